"""Deploying: Ferryman made on Google Cloud with the user's own terraform and gcloud, checked before and tried afterwards."""

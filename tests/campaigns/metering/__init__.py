"""The campaign on metering: events that come often, late and in any order, and workers that die."""

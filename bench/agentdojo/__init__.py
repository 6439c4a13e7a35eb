"""AgentDojo on the kernel: what a hijacked model can do, and how often a person is asked, with the flow policy and without."""

"""Jobs: training runs that the service starts, watches and stops."""

"""The service: an HTTP API over run folders and jobs, and a page to look at them."""

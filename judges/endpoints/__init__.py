"""Model servers, prompts, and the judges that combine both."""

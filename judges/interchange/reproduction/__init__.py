"""Papers about judges that can be reproduced."""

"""What is looked at before a store is opened, and kept before it is migrated."""

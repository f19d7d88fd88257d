-- The role by which web servers and workers sign in to PostgreSQL: it reads and writes rows and owns nothing, so it
-- can neither change a table nor take its guards away. Run by the owner of the tables, once, after `migrate`:
--
--   psql "$OWNERS_DATABASE_URL" -v role=concord_app -f deploy/application_role.sql
--   \password concord_app            (in psql)
--
-- What later migrations make is granted by itself, as long as the same owner runs them.
CREATE ROLE :"role" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
GRANT USAGE ON SCHEMA public TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO :"role";
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO :"role";
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO :"role";
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO :"role";

-- One snapshot is one SQLite file, named by its sequence, written beside its name and renamed when complete.
create table snapshot (
  sequence integer not null,        -- last command it contains
  time_ms integer not null,         -- sequenced time of that command
  format integer not null,          -- which columns it holds (file.ts)
  batch_checksum integer not null,  -- checksum of the last batch: what the next one must continue
  events_checksum integer not null, -- chained checksum of all events so far
  digest text not null,             -- SHA-256 of the stored columns, hex
  genesis text not null,
  seal text not null                -- SHA-256 of the fields above, hex
) strict;
create table chunk (
  column_name text not null,
  number integer not null,
  bytes blob not null,
  primary key (column_name, number)
) strict, without rowid;

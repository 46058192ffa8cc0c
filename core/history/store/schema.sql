-- The history store: what the journal's events come to, for reading. It can be made from the journal again at any time.
-- Pages of records are described in layout.ts. Tables that came later are in later_tables.sql.
create table position (
  one integer primary key check (one = 1),
  format integer not null,
  genesis text not null,             -- SHA-256 of the genesis document, hex
  sequence integer not null,         -- last command whose events are here, always the last of its batch
  time_ms integer not null,          -- sequenced time of that command
  batch_checksum integer not null,   -- of that batch: the journal must still have it
  events_checksum integer not null,  -- chained checksum of all events so far
  events integer not null,           -- events so far
  roots blob not null,               -- how many owners each table has, and the checksum over all of it: heads.ts
  checksum integer not null          -- CRC-32 of this row
) strict;
create table order_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table posting_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table trade_page (
  id integer primary key,            -- pair × 2^29 + number of the page
  records blob not null
) strict;
create table order_reference_page (
  id integer primary key,            -- application × 2^29 + number of the page
  records blob not null
) strict;
create table posting_reference_page (
  id integer primary key,            -- application × 2^29 + number of the page
  records blob not null
) strict;
create table application_trade_page (
  id integer primary key,            -- application × 2^29 + number of the page
  records blob not null
) strict;
create table candle_page (
  id integer primary key,            -- (pair × 3 + resolution) × 2^29 + number of the page
  records blob not null
) strict;
create table account_hour_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table price_hour_page (
  id integer primary key,            -- pair × 2^29 + number of the page
  records blob not null
) strict;
create table application_user_page (
  id integer primary key,            -- application × 2^29 + number of the page
  records blob not null
) strict;
create table head_page (
  id integer primary key,            -- table × 2^29 + number of the page
  records blob not null
) strict;

-- The history store: what the journal's events come to, for reading. It can be made from the journal again at any time.
-- Pages of records are described in layout.ts.
create table position (
  one integer primary key check (one = 1),
  format integer not null,
  genesis text not null,             -- SHA-256 of the genesis document, hex
  sequence integer not null,         -- last command whose events are here, always the last of its batch
  time_ms integer not null,          -- sequenced time of that command
  batch_checksum integer not null,   -- of that batch: the journal must still have it
  events_checksum integer not null,  -- chained checksum of all events so far
  events integer not null            -- events so far
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
-- What applications list, by application: layout.ts.
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
-- The accounts of an application.
create table application_user (
  id integer primary key,            -- application × 2^29 + account
  traded_ms integer not null         -- when it traded last, Unix ms; 0: never
) strict;
-- An account as it was at the end of an hour in which something happened to it; the newest row is how it is.
create table account_hour (
  id integer primary key,            -- account × 2^29 + hours since 1970
  state blob not null                -- int128 volume, fees, realised PnL; then of each asset int64 available and locked, int128 cost
) strict;
-- The last price of a pair in an hour in which it traded.
create table price_hour (
  id integer primary key,            -- pair × 2^29 + hours since 1970
  ticks integer not null
) strict;

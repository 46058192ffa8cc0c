-- Tables that stores of older formats do not have: made when one is opened for writing.
create table if not exists holding_hour_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists margin_account_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists risk_bucket_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists margin_order_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists position_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists funding_payment_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists liquidation_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists margin_hour_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists mark_page (
  id integer primary key,            -- pair × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists funding_rate_page (
  id integer primary key,            -- pair × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists conditional_order_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists twap_order_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists twap_slice_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists application_fee_page (
  id integer primary key,            -- application × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists reward_entry_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists reward_account_page (
  id integer primary key,            -- number of the page
  records blob not null
) strict;
create table if not exists reward_source_page (
  id integer primary key,            -- number of the page
  records blob not null
) strict;
create table if not exists reward_sum_page (
  id integer primary key,            -- number of the page
  records blob not null
) strict;
create table if not exists follow_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists leader_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists margin_flow_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists withdrawal_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists deposit_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;
create table if not exists settlement_page (
  id integer primary key,            -- number of the page
  records blob not null
) strict;
create table if not exists settlement_chunk_page (
  id integer primary key,            -- number of the page
  records blob not null
) strict;

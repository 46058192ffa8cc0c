-- Tables that stores of older formats do not have: made when one is opened for writing.
create table if not exists holding_hour_page (
  id integer primary key,            -- account × 2^29 + number of the page
  records blob not null
) strict;

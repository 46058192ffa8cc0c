/**
 * Rows of a listing as ccxt promises them: oldest first; from `since` on when it is given, otherwise the newest.
 *
 * The service lists newest first. Rows from a time on are therefore asked for in spans of time: a span with more rows
 * than a page holds is halved, and its earlier half asked for first. Each answer also says when its oldest row was,
 * which ends the halving early. So a call takes one request when a page holds everything since then, and otherwise
 * about as many as the time since then can be halved, however many rows there are: fewer than 100 for 1,000 rows.
 */

export interface Page {
  readonly pageToken: string
  readonly pageSize: number
  /** Unix ms, both ends included. */
  readonly startTime?: string
  readonly endTime?: string
}

export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly nextPageToken?: string | undefined
}

export interface Listing<Row> {
  readonly ask: (page: Page) => Promise<Answer<Row>>
  /** When a row was, by which the listing is ordered; RFC 3339. */
  readonly timeOf: (row: Row) => string
}

/** Unix ms from which on the service takes times: 2001, since smaller numbers are seconds. */
const FIRST_MS = 978_307_200_000
/** Rows of an answer when nobody says how many. */
const PAGE = 100
const PAGE_MAX = 1000

/** `limit` rows, or a page: the oldest from `since` (Unix ms) on, or without it the newest. Oldest first. */
export async function rowsOf<Row>(listing: Listing<Row>, since: number | undefined, limit = PAGE): Promise<Row[]> {
  if (since === undefined) return (await newest(listing, {}, limit)).reverse()
  return oldest(listing, since <= 0 ? FIRST_MS : Math.ceil(since), Infinity, limit)
}

async function newest<Row>({ ask }: Listing<Row>, span: Partial<Page>, limit: number): Promise<Row[]> {
  const found: Row[] = []
  let pageToken: string | undefined = ''
  while (found.length < limit) {
    const pageSize = Math.min(PAGE_MAX, limit - found.length)
    const { rows, nextPageToken }: Answer<Row> = await ask({ ...span, pageToken, pageSize })
    found.push(...rows)
    if (nextPageToken === undefined || nextPageToken === '') break
    pageToken = nextPageToken
  }
  return found
}

/** The oldest `limit` rows from `from` to `to`, oldest first. */
async function oldest<Row>(listing: Listing<Row>, from: number, to: number, limit: number): Promise<Row[]> {
  const span = { startTime: String(from), ...(to === Infinity ? {} : { endTime: String(to) }) }
  const pageSize = Math.min(PAGE_MAX, Math.max(PAGE, limit))
  const { rows, nextPageToken } = await listing.ask({ ...span, pageToken: '', pageSize })
  const isWhole = nextPageToken === undefined || nextPageToken === '' || rows.length === 0
  if (isWhole) return [...rows].reverse().slice(0, limit)
  // What the page did not hold is as old as its last row, or older.
  const last = Date.parse(listing.timeOf(rows.at(-1)!))
  // All of it in one millisecond: there is nothing to halve.
  if (last <= from && to <= from) return (await newest(listing, span, Infinity)).reverse().slice(0, limit)
  const middle = from + Math.floor(Math.max(0, last - from) / 2)
  const earlier = await oldest(listing, from, middle, limit)
  if (earlier.length >= limit) return earlier
  return [...earlier, ...(await oldest(listing, middle + 1, to, limit - earlier.length))]
}

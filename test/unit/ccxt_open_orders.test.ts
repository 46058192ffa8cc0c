/**
 * Promise: fetchOpenOrders without a limit gives every order that rests or waits, however many pages the service has of them; history
 * is given as many rows at a time as was asked for.
 */
import t from 'tap'
import type { Client } from '../../gateway/client/index.ts'
import { Ringbook } from '../../gateway/client/ccxt/index.ts'

const COUNT = 2350
const AT = '2026-01-01T00:00:00.000Z'
const ROW = {
  status: 'SUBMITTED', orderType: 'LIMIT', side: 'BUY', symbol: 'ETH/USDC', price: '1', quantity: '1', filledQuantity: '0',
  remainingQuantity: '1', createdAt: AT, updatedAt: AT, state: 'ARMED', conditionType: 'STOP_LOSS', triggerPrice: '1',
}

interface Page { readonly pageToken: string; readonly pageSize: number; readonly startTime?: string; readonly endTime?: string }

/** So many rows of one moment, newest first, of which a page has 1,000 at most. */
function venueOf(): Ringbook {
  const page = ({ pageToken, pageSize, startTime = '0', endTime = '9e15' }: Page): { rows: unknown[]; nextPageToken: string } => {
    const at = Date.parse(AT)
    if (Number(startTime) > at || Number(endTime) < at) return { rows: [], nextPageToken: '' }
    const start = Number(pageToken)
    const end = Math.min(COUNT, start + Math.min(pageSize, 1000))
    const rows = Array.from({ length: end - start }, (_, i) => ({ ...ROW, orderId: `o${start + i}`, conditionalOrderId: `o${start + i}` }))
    return { rows, nextPageToken: end < COUNT ? String(end) : '' }
  }
  const client = {
    signer: {},
    ListTradingPairs: () => Promise.resolve({ tradingPairs: [], totalPages: 1 }),
    ListOrders: (asked: Page) => {
      const { rows: orders, nextPageToken } = page(asked)
      return Promise.resolve({ orders, nextPageToken })
    },
    ListConditionalOrders: (asked: Page) => {
      const { rows: conditionalOrders, nextPageToken } = page(asked)
      return Promise.resolve({ conditionalOrders, nextPageToken })
    },
  }
  return new Ringbook({ client: client as unknown as Client })
}

t.test('what is open is whole', async (t) => {
  const venue = venueOf()
  const open = await venue.fetchOpenOrders()
  t.equal(new Set(open.map(({ id }) => id)).size, COUNT)
  const since = await venue.fetchOpenOrders(undefined, Date.parse(AT))
  t.equal(new Set(since.map(({ id }) => id)).size, COUNT, 'since a time too')
  const waiting = await venue.fetchOpenOrders(undefined, undefined, undefined, { trigger: true })
  t.equal(new Set(waiting.map(({ id }) => id)).size, COUNT, 'and what waits for a price')
  t.equal((await venue.fetchOpenOrders(undefined, undefined, 150)).length, 150, 'a limit is kept')
})

t.test('history has pages', async (t) => {
  t.equal((await venueOf().fetchOrders()).length, 100)
  t.equal((await venueOf().fetchClosedOrders()).length, 100)
})

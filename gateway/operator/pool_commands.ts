/** Commands of the operator's command line that look at pools and cancel orders; see commands.ts. */
import { formatId, IdKind, userId as formatUserId } from '../../core/layout/ids.ts'
import type { Ask } from './client.ts'
import { get, said, UsageError, type Command, type Shown } from './command.ts'
import { table } from './text.ts'

const USER = formatUserId(1040, 7)
const OTHER = formatId(IdKind.USER, 977, 3)
/** Requests of one cancel, at most. */
const ROUNDS = 1000

interface Pool {
  readonly pool: string
  readonly used: number
  readonly capacity: number
  readonly share: number | null
}
interface Held {
  readonly userId: string
  readonly held: number
}
interface Cancelled {
  readonly cancelled: number
  readonly left: number
  readonly sequence: number
  readonly accounts: number
}

const showPools = (pools: readonly Pool[]): string =>
  table(['POOL', 'USED', 'CAPACITY', 'FULL %', 'SHARE'], pools.map(({ pool, used, capacity, share }) => [
    pool, used, capacity, ((used / capacity) * 100).toFixed(1), share === null ? '-' : String(share),
  ]))

const showHeld = (head: string, rows: readonly Held[]): string => table([head, 'HOLDS'], rows.map(({ userId, held }) => [userId, held]))

/** Until nothing is left; each request ends as many orders as its commands do. */
async function cancel(ask: Ask, body: object): Promise<Shown> {
  let total = 0
  for (let round = 0; round < ROUNDS; round++) {
    const done = await get<Cancelled>(ask, '/orders/cancel', body)
    total += done.cancelled
    if (done.left > 0) continue
    const accounts = done.accounts === 1 ? '1 account' : `${done.accounts} accounts`
    return said({ ...done, cancelled: total }, `${total} orders of ${accounts} are cancelled (sequence ${done.sequence})`)
  }
  throw new UsageError('orders come faster than they are cancelled: end the sessions first')
}

export const POOL_COMMANDS: readonly Command[] = [
  {
    name: 'pools',
    parameters: [],
    purpose: 'how full every bounded pool of the state is',
    explains: 'SHARE is what one user with all sub-accounts may hold of it now; it shrinks as the pool fills. What happens when one\n'
      + 'is full is in gateway/README.md, What is bounded. Alerts stand at 70 and 90 %.',
    example: ['pools', 'POOL    USED     CAPACITY   FULL %  SHARE\norders  734,003  1,048,576  70.0    1061'],
    run: async (ask) => {
      const answer = await get<{ pools: readonly Pool[] }>(ask, '/pools')
      return said(answer, showPools(answer.pools))
    },
  },
  {
    name: 'holders',
    parameters: ['POOL'],
    options: [{ name: 'top', value: 'NUMBER', optional: true }],
    purpose: 'who holds most of a pool: orders or receipts',
    explains: 'The largest accounts, and the largest families: a master with its sub-accounts, by its master. NUMBER is 1 to 100, 20 if\n'
      + 'it is not given.',
    example: ['holders orders --top 1', `ACCOUNT                               HOLDS\n${USER}  9,984\n\n`
      + `FAMILY                                HOLDS\n${OTHER}  20,117`],
    run: async (ask, [pool], { top = '20' }) => {
      const path = `/holders?pool=${encodeURIComponent(pool!)}&top=${encodeURIComponent(top)}`
      const held = await get<{ accounts: readonly Held[]; families: readonly Held[] }>(ask, path)
      return said(held, `${showHeld('ACCOUNT', held.accounts)}\n\n${showHeld('FAMILY', held.families)}`)
    },
  },
  {
    name: 'orders cancel',
    parameters: [],
    options: [
      { name: 'user', value: 'USER_ID' }, { name: 'pair', value: 'PAIR', optional: true },
      { name: 'family', value: 'true|false', optional: true },
    ],
    purpose: 'cancel resting orders of a user',
    explains: 'All of them, or those of PAIR (a symbol or an id); with --family true those of the master and all its sub-accounts. It\n'
      + 'works in maintenance and on halted pairs too. The user may place orders again: end the sessions to prevent that. Every\n'
      + 'cancel is in the journal, and the history says that it was the operator\'s.',
    example: [`orders cancel --user ${USER} --pair BTC/USDC`, '9,984 orders of 1 account are cancelled (sequence 1042)'],
    run: async (ask, _parameters, { user, pair, family = 'false' }) => {
      if (family !== 'true' && family !== 'false') throw new UsageError('--family is true or false')
      return cancel(ask, { userId: user, ...(pair === undefined ? {} : { pair }), family: family === 'true' })
    },
  },
]

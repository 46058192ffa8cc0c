/**
 * The chains of the vault and settlement on the hub, for an operator: how far they were read, the way back after a reorganisation behind
 * the confirmations, and how far batches are. What the chain says comes from the vault thread's last report.
 */
import Type, { type Static } from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { ADVANCE_CHAIN_COMMAND } from '../../core/layout/vault.ts'
import { chainCursors, settlementState } from '../../core/view/vault.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, rfc3339, Timestamp } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused } from '../refused.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'
import { facts, table } from './text.ts'
import { readingVault } from './withdrawals.ts'

const HASH = /^0x[0-9a-f]{64}$/
const HASH_EXAMPLE = `0x${'5e'.repeat(32)}`

const chainId = field(Type.Integer({ minimum: 1 }), 'The chain.')
const Block = Type.Integer({ minimum: 0 })
const Chain = Type.Object({
  chainId, block: field(Type.Integer(), 'All deposits up to this block were taken.'), blockHash: field(Type.String(), 'Its hash.'),
  blockTime: field(Timestamp, 'When it was made.'), rewinds: field(Type.Integer(), 'How often it was set back.'),
  connected: field(Nullable(Type.Boolean()), 'Whether the node answers; null: nothing was heard of it.'),
  head: field(Nullable(Type.Integer()), 'Newest block; null: not known.'),
  confirmed: field(Nullable(Type.Integer()), 'Newest block behind the confirmations; null: not known.'),
  reorganised: field(Type.Boolean(), 'The chain has another block there now: it rests until it is set back.'),
})
type Chain = Static<typeof Chain>
const at = field(Nullable(Timestamp), 'When the vault thread said so; null: it says nothing.')
const example: Chain = {
  chainId: 1328, block: 1200, blockHash: HASH_EXAMPLE, blockTime: '2026-01-02T03:04:05.000Z', rewinds: 0, connected: true, head: 1203,
  confirmed: 1200, reorganised: false,
}
const known = (block: number | undefined): number | null => (block === undefined || block < 0 ? null : block)

export const ShowChain = operatorRoute({
  method: 'GET', path: '/chain', token: true,
  summary: 'The chains that are read, and how far',
  description: 'The hub first. Positions are in the journal; head and confirmed are what the node said last.',
  output: Type.Object({
    at, paused: field(Nullable(Type.Boolean()), 'Whether the vault contract is paused; null: not known.'),
    vault: field(Nullable(Type.String()), 'The vault contract; null: not known.'),
    factory: field(Nullable(Type.String()), 'The factory of deposit addresses; null: not known.'),
    rpcCalls: field(Type.Integer(), 'Calls to nodes.'), rpcFailures: field(Type.Integer(), 'Of them, not answered or not usably.'),
    chains: field(Type.Array(Chain), 'The chains.'),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: {
    input: {},
    output: {
      at: '2026-01-02T03:04:06.000Z', paused: false, vault: '0x9a8f92a830a5cb89a3816e3d267cb7791c16b04d',
      factory: '0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6', rpcCalls: 4123, rpcFailures: 2, chains: [example],
    },
  },
  commands: [{
    name: 'chain show',
    purpose: 'the chains that are read, and how far',
    explains: 'READ is the block up to which all deposits were taken; it stands in the journal. CONFIRMED is the newest block behind the\n'
      + 'confirmations, HEAD the newest. REORGANISED: the chain has another block at READ now; deposits, confirmations and\n'
      + 'settlement rest until you set it back (chain rewind).',
    example: ['chain show', 'CHAIN  NODE  READ  CONFIRMED  HEAD  REWINDS  STATE\n1328   up    1200  1200       1203        0  follows'],
    show: ({ chains, at: heard }) => [
      table(['CHAIN', 'NODE', 'READ', 'CONFIRMED', 'HEAD', 'REWINDS', 'STATE'], chains.map((each) => [
        String(each.chainId), each.connected === null ? '?' : each.connected ? 'up' : 'away', String(each.block),
        String(each.confirmed ?? '-'), String(each.head ?? '-'), each.rewinds, each.reorganised ? 'REORGANISED' : 'follows',
      ])),
      ...(chains.length === 0 ? ['', 'no chain was read yet'] : []),
      ...(heard === null ? ['', 'the vault thread says nothing'] : []),
    ].join('\n'),
    good: ({ chains }) => chains.every(({ reorganised }) => !reorganised),
  }],
  run: ({ state, vault }) => readingVault(() => {
    const { report } = vault
    const said = new Map(report?.chains.map((each) => [each.chainId, each]))
    return {
      at: report === null ? null : rfc3339(report.at), paused: report?.paused ?? null, vault: report?.places?.vault ?? null,
      factory: report?.places?.factory ?? null, rpcCalls: report?.rpcCalls ?? 0, rpcFailures: report?.rpcFailures ?? 0,
      chains: chainCursors(state).map(({ chainId: id, block, blockHash, blockTime, rewinds }) => {
        const chain = said.get(id)
        return {
          chainId: id, block, blockHash, blockTime: rfc3339(blockTime), rewinds, connected: chain?.connected ?? null,
          head: known(chain?.head), confirmed: known(chain?.confirmed), reorganised: chain?.reorganised ?? false,
        }
      }),
    }
  }),
})

export const RewindChain = operatorRoute({
  method: 'POST', path: '/chain/rewind', token: true,
  summary: 'Set a chain back to an older block, after a reorganisation behind the confirmations',
  description: 'Deposits behind that block are read again; those that come again are not credited twice, by their transaction and place. '
    + 'CHAIN_ORDER: it is no older block, or so far back that deposits behind it are not known any more. What was credited and came not '
    + 'again is owed by the house: solvency shows it.',
  body: Type.Object({
    chainId, block: field(Block, 'The block, which both chains have.'),
    hash: field(Type.String({ pattern: HASH.source }), 'Its hash.'), time: field(Type.Integer({ minimum: 0 }), 'Its time, Unix seconds.'),
  }),
  output: Type.Object({
    chainId, block: field(Type.Integer(), 'Where it stands.'), before: field(Type.Integer(), 'Where it stood.'), sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND', 'CHAIN_ORDER', 'ENGINE_UNAVAILABLE'],
  example: {
    input: { chainId: 1328, block: 1190, hash: HASH_EXAMPLE, time: 1_767_323_045 },
    output: { chainId: 1328, block: 1190, before: 1200, sequence: 1042 },
  },
  commands: [{
    name: 'chain rewind', parameters: [{ field: 'chainId', typed: 'CHAIN' }],
    options: [
      { field: 'block', typed: 'BLOCK', option: 'block' }, { field: 'hash', typed: 'HASH', option: 'hash' },
      { field: 'time', typed: 'SECONDS', option: 'time' },
    ],
    purpose: 'set a chain back to an older block, after a reorganisation behind the confirmations',
    explains: 'BLOCK is the last one that the chain had before and has still, READ itself when only blocks behind it are others, or an\n'
      + 'older one; HASH (0x and 64 hex digits) and SECONDS (Unix time) are what eth_getBlockByNumber of a node that you trust\n'
      + 'says of it. Deposits behind it are read again, and those that come again are not credited twice. One that was credited\n'
      + 'and does not come again is owed by the house: look at solvency. A block so far back that deposits\n'
      + 'behind it are not known any more is refused.',
    example: [
      `chain rewind 1328 --block 1190 --hash ${HASH_EXAMPLE} --time 1767323045`,
      'chain 1328 stands at block 1190, before at 1200 (sequence 1042)',
    ],
    show: ({ chainId: id, block, before, sequence }) =>
      `chain ${id} stands at block ${block}, before at ${before} (sequence ${sequence})`,
  }],
  run: (context, { chainId: id, block, hash, time }) => {
    const cursors = readingVault(() => chainCursors(context.state))
    if (cursors instanceof Refused) return cursors
    const cursor = cursors.find((each) => each.chainId === id)
    if (cursor === undefined) return new Refused('NOT_FOUND', undefined, { field: 'chainId' })
    const values = { chain: cursor.chain, rewind: 1, chainId: id, block, blockTime: time * 1000, blockHash: hash.slice(2) }
    return sendCommand(context, CommandType.ADVANCE_CHAIN, ADVANCE_CHAIN_COMMAND, values, ({ sequence }) => {
      note(context, 'chain set back', { chainId: id, block, before: cursor.block, hash, sequence })
      return { chainId: id, block, before: cursor.block, sequence: Number(sequence) }
    })
  },
})

const Batch = Type.Object({
  batch: field(Type.Integer(), 'Its number.'), from: field(Type.Integer(), 'First sequence.'), through: field(Type.Integer(), 'Last one.'),
  trades: field(Type.Integer(), 'Trades in it.'), openedAt: field(Timestamp, 'When it was opened.'),
})

export const ShowSettlement = operatorRoute({
  method: 'GET', path: '/settlement', token: true,
  summary: 'Batches of settlement: what is opened, posted and confirmed',
  description: 'A batch has the trades since the one before. Its roots are posted to the vault and confirmed by the chain.',
  output: Type.Object({
    at, opened: field(Type.Integer(), 'The last batch that was opened; 0: none.'), through: field(Type.Integer(), 'Its last sequence.'),
    waiting: field(Type.Integer(), 'Trades behind it, which are in no batch yet.'),
    confirmed: field(Type.Integer(), 'The last one that stands on the chain; 0: none.'),
    confirmedThrough: field(Type.Integer(), 'Its last sequence: trades up to it are settled on the chain.'),
    tradesRoot: field(Nullable(Type.String()), 'Of the batch that was confirmed last; null: not known.'),
    balancesRoot: field(Nullable(Type.String()), 'The same.'), open: field(Type.Array(Batch), 'Batches that wait for the chain.'),
    stopped: field(Nullable(Type.String()), 'Why batches are not posted any more, in words; null: they are.'),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: {
    input: {},
    output: {
      at: '2026-01-02T03:04:06.000Z', opened: 42, through: 90_210, waiting: 128, confirmed: 41, confirmedThrough: 88_000,
      tradesRoot: HASH_EXAMPLE, balancesRoot: HASH_EXAMPLE, stopped: null,
      open: [{ batch: 42, from: 88_001, through: 90_210, trades: 512, openedAt: '2026-01-02T03:03:05.000Z' }],
    },
  },
  commands: [{
    name: 'settlement show',
    purpose: 'batches of settlement: what is opened, posted and confirmed',
    explains: 'A batch has the trades since the one before, and all balances at its end. Trades up to the last sequence of the confirmed\n'
      + 'batch are settled on the chain. npm run replay -- settlement --batch N works the roots of one out of the journal again.',
    example: ['settlement show', 'opened     batch 42, up to sequence 90210\nwaiting    128 trades for the next one\n'
      + 'confirmed  batch 41, up to sequence 88000\nposting    goes on\n\nBATCH  TRADES  OPENED\n   42     512  2026-01-02T03:03:05.000Z'],
    show: ({ opened, through, waiting, confirmed, confirmedThrough, open, stopped }) => [
      facts([
        ['opened', opened === 0 ? 'none yet' : `batch ${opened}, up to sequence ${through}`],
        ['waiting', `${waiting} trades for the next one`],
        ['confirmed', confirmed === 0 ? 'none yet' : `batch ${confirmed}, up to sequence ${confirmedThrough}`],
        ['posting', stopped ?? 'goes on'],
      ]),
      ...(open.length === 0 ? [] : [
        '', table(['BATCH', 'TRADES', 'OPENED'], open.map((each) => [each.batch, each.trades, each.openedAt])),
      ]),
    ].join('\n'),
    good: ({ stopped }) => stopped === null,
  }],
  run: ({ state, vault: { report } }) => readingVault(() => {
    const { batch, through, waiting, confirmed, confirmedThrough, open } = settlementState(state)
    return {
      at: report === null ? null : rfc3339(report.at), opened: batch, through, waiting, confirmed, confirmedThrough,
      tradesRoot: report?.settlement.tradesRoot ?? null, balancesRoot: report?.settlement.balancesRoot ?? null,
      open: open.map((each) => ({
        batch: each.batch, from: each.from, through: each.through, trades: each.fills, openedAt: rfc3339(each.openedAt),
      })),
      stopped: report?.settlement.stopped ?? null,
    }
  }),
})

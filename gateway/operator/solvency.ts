/**
 * Solvency, for an operator: what the exchange owes of each token, part by part, against what its vault holds at a confirmed block, as the
 * vault thread found them last (chain/vault/solvency.ts). Comparing is its work; here it is shown.
 */
import Type, { type Static } from 'typebox'
import type { Asset } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { WITHDRAWAL_STOP_NAMES } from '../../core/layout/vault.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { withdrawalsStopped } from '../../core/view/vault.ts'
import { owedOf } from '../../core/view/vault_sums.ts'
import type { TokenSolvency } from '../chain/vault/messages.ts'
import { amountText } from '../operations/amounts.ts'
import { Decimal, Nullable, rfc3339, Timestamp } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { operatorRoute } from './route.ts'
import { facts } from './text.ts'
import { readingVault } from './withdrawals.ts'

const Token = Type.Object({
  symbol: field(Type.String(), 'The asset.'), token: field(Nullable(Type.String()), 'Its token on the hub; null: not compared.'),
  issued: field(Decimal, 'What the exchange owes in all.'),
  balances: field(Decimal, 'Of it balances of users, available and locked.'),
  withdrawing: field(Decimal, 'Of these, locked by withdrawals under way.'),
  margin: field(Decimal, 'Of it in margin accounts and positions, with funding under way.'),
  fees: field(Decimal, 'Of it fees of the house.'), rewards: field(Decimal, 'Of it rewards of referrers.'),
  suspense: field(Decimal, 'Of it deposits in suspense.'),
  faucetOutstanding: field(Decimal, 'Of it issued by the faucet and not minted on the chain yet: not compared.'),
  liabilities: field(Nullable(Decimal), 'What the vault must have, at the block of the comparison; null: not known.'),
  inFlight: field(Nullable(Decimal), 'Paid by the vault, not confirmed yet: users are not owed it any more. Looked for when it matters.'),
  holdings: field(Nullable(Decimal), 'What the vault has; null: not known.'),
  elsewhere: field(Nullable(Decimal), 'What vaults on other chains have, of which nothing is paid. Looked for when it matters.'),
  difference: field(Nullable(Decimal), 'Held, in flight and elsewhere, less liabilities: below 0 it is a deficit; null: not known.'),
})
type Token = Static<typeof Token>

const example: Token = {
  symbol: 'USDC', token: '0x0000000000000000000000000000000000001001', issued: '1000250', balances: '900000', withdrawing: '2500',
  margin: '99000', fees: '1200', rewards: '25', suspense: '25', faucetOutstanding: '0', liabilities: '1000250', inFlight: '0',
  holdings: '1000250.000001', elsewhere: '0', difference: '0.000001',
}

/** Of one asset; `found`: what the vault thread said of it. */
function tokenOf(state: State, asset: Asset, found: TokenSolvency | undefined): Token {
  const owed = owedOf(state, asset.index)
  const text = (atoms: bigint): string => amountText(asset, atoms)
  const hub = state.genesis.sweeperChains.find(({ hub: is }) => is)
  const decimals = hub?.assets.find(({ symbol }) => symbol === asset.symbol)?.decimals ?? asset.decimals
  const raw = (units: bigint): string => formatDecimal(units, decimals)
  const [holdings, inFlight, elsewhere, liabilities] = [found?.holdings ?? null, found?.inFlight, found?.elsewhere, found?.liabilities]
  return {
    symbol: asset.symbol, token: found?.token ?? null, issued: text(owed.issued), balances: text(owed.balances),
    withdrawing: text(owed.withdrawing), margin: text(owed.margin), fees: text(owed.fees), rewards: text(owed.rewards),
    suspense: text(owed.suspense), faucetOutstanding: text(owed.faucetOutstanding),
    liabilities: liabilities === undefined ? null : raw(BigInt(liabilities)),
    inFlight: inFlight === undefined ? null : raw(BigInt(inFlight)),
    holdings: holdings === null ? null : raw(BigInt(holdings)),
    elsewhere: elsewhere === undefined ? null : raw(BigInt(elsewhere)),
    difference: holdings === null ? null : raw(BigInt(holdings) + BigInt(inFlight!) + BigInt(elsewhere!) - BigInt(liabilities!)),
  }
}

const compared = ({ liabilities, inFlight, holdings, elsewhere, difference }: Token): (readonly [string, string])[] => [
  ['  to be held', liabilities ?? 'not known'], ['  in flight', inFlight ?? 'not known'], ['  held', holdings ?? 'not known'],
  ['  on other chains', elsewhere ?? 'not known'], ['  difference', difference ?? 'not known'],
]

const shownToken = (each: Token): string => `${each.symbol}\n${facts([
  ['  owed', each.issued],
  ['    balances', `${each.balances}${each.withdrawing === '0' ? '' : `, of which ${each.withdrawing} are being withdrawn`}`],
  ['    margin', each.margin], ['    fees', each.fees], ['    rewards', each.rewards], ['    suspense', each.suspense],
  ['  not minted yet', each.faucetOutstanding],
  ...(each.token === null ? [['  compared', 'no'] as const] : compared(each)),
])}`

const isShort = ({ difference }: Token): boolean => difference !== null && difference.startsWith('-')

export const ShowSolvency = operatorRoute({
  method: 'GET', path: '/solvency', token: true,
  summary: 'What the exchange owes of each token, and what its vault holds',
  description: 'Parts of what is owed are read while trading goes on, a moment apart. What is held, in flight and to be held was compared '
    + 'at one confirmed block by the vault thread. A deficit that is seen twice stops withdrawals.',
  output: Type.Object({
    at: field(Nullable(Timestamp), 'When the vault thread compared; null: it did not.'),
    stopped: field(Type.Enum([...WITHDRAWAL_STOP_NAMES]), 'Whether withdrawals are stopped, and why.'),
    solvent: field(Nullable(Type.Boolean()), 'Whether no token is short; null: not known of every token.'),
    tokens: field(Type.Array(Token), 'By asset.'),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { at: '2026-01-02T03:04:06.000Z', stopped: 'NONE', solvent: true, tokens: [example] } },
  commands: [{
    name: 'solvency',
    purpose: 'what the exchange owes of each token, and what its vault holds',
    explains: 'Owed is what was issued and not withdrawn, with its parts, as it is now. To be held is what users have without what the\n'
      + 'faucet issued and nobody minted, held what the vault has, in flight what it paid and the exchange does not know of yet:\n'
      + 'these were compared at one confirmed block; a token that is not on the hub is not. What vaults on other chains have counts, and\n'
      + 'the hub pays no more than it has itself: bring it there. Difference below 0: a deficit.\n'
      + 'Exit code 1 when a token is short, or it is not known of one. withdrawals stop against what you do not understand.',
    example: ['solvency', `every token is covered, compared 2026-01-02T03:04:06.000Z\n\n${shownToken(example)}`],
    show: ({ at, solvent, stopped, tokens }) => [
      solvent === null ? 'it is not known of every token whether it is covered' : solvent
        ? `every token is covered, compared ${at}` : `SHORT OF ${tokens.filter(isShort).map(({ symbol }) => symbol).join(', ')}`,
      ...(stopped === 'NONE' ? [] : [`withdrawals are stopped (${stopped})`]),
      ...tokens.flatMap((each) => ['', shownToken(each)]),
    ].join('\n'),
    good: ({ solvent }) => solvent === true,
  }],
  run: ({ state, vault: { report } }) => readingVault(() => {
    const found = new Map(report?.solvency.map((each) => [each.asset, each]))
    const tokens = state.genesis.assets.map((asset) => tokenOf(state, asset, found.get(asset.index)))
    // What has no token on the hub can be neither deposited nor withdrawn.
    const compared = tokens.filter(({ token }) => token !== null)
    const isKnown = compared.length > 0 && compared.every(({ difference }) => difference !== null)
    return {
      at: compared.length === 0 ? null : rfc3339(report!.at), stopped: WITHDRAWAL_STOP_NAMES[withdrawalsStopped(state)]!,
      solvent: compared.some(isShort) ? false : isKnown ? true : null, tokens,
    }
  }),
})

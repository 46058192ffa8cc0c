/** The caller's own profile and balances, from the shared columns. */
import Type, { type Static } from 'typebox'
import type { Asset } from '../../core/state/genesis.ts'
import { userId } from '../../core/layout/ids.ts'
import { readAccount, readBalances, type BalanceView } from '../../core/view/accounts.ts'
import { masterOf, readUsername } from '../../core/view/families.ts'
import { canWithdraw } from '../../core/view/vault.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { askHistory } from '../bridge/history.ts'
import { applicationBytes, DEFAULT_APPLICATION, depositAddresses } from '../chain/vault/deposit_address.ts'
import { toBytes, toHex } from '../chain/values.ts'
import { createBoundedMap, remember } from '../bounded_map.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText, rawText } from './amounts.ts'
import { Decimal, Nullable, operation, pageOf, PageOutput, PageQuery, rfc3339, Uuid } from './operation.ts'
import * as sample from './example_values.ts'
import { HISTORY, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { balanceSettlement, SettlementProof } from './settlement.ts'
import { assetOf } from './lookup.ts'

const Profile = Type.Object({
  id: fields.id,
  address: fields.address,
  username: fields.username,
  accountType: field(Type.Union([Type.Literal('master'), Type.Literal('sub')]), 'master or sub.'),
  canWithdraw: field(
    Type.Boolean(), 'Whether a withdrawal would be taken now: of a master, while withdrawals are not stopped and nothing is maintained.',
  ),
  depositAddress: field(
    Nullable(Type.String()), 'Personal deposit address, the same on every chain that deposits may come from (ListSweeperChains): tokens '
      + 'that are paid to it are swept into the vault and credited. Null while the vault is not known.',
  ),
  createdAt: fields.createdAt,
  /** Of a sub-account: the user that is its master. */
  masterAccountId: field(Nullable(Uuid), 'Of a sub-account: the user that is its master; null for a master.'),
})

/** Checksummed addresses by address in hex: the checksum costs a Keccak. */
const addresses = createBoundedMap<string, string>(4096)

/** EIP-55 text of an address. */
export function addressText(address: Uint8Array): string {
  const hex = Buffer.from(address).toString('hex')
  const known = addresses.entries.get(hex)
  if (known !== undefined) return known
  const text = checksumAddress(`0x${hex}`)
  remember(addresses, hex, text)
  return text
}

/** Public id of the account in row `account`. */
export const userIdOf = ({ state }: Gateway, account: number): string => userId(readAccount(state, account).createdSequence, account)

/** Where the account's deposits may be paid to; `null` while the vault is not known. */
function depositAddressOf({ state, applications, vault: { places } }: Gateway, account: number): string | null {
  const { address, application } = readAccount(state, account)
  const id = applications.at(application)?.id
  if (places === null || id === undefined) return null
  const named = application === 0 ? DEFAULT_APPLICATION : applicationBytes(id)
  return addressText(toBytes(depositAddresses(places.factory)(toHex(address), named)))
}

/** The name of an account; `null` without one. */
export function usernameText({ state }: Gateway, account: number): string | null {
  const username = readUsername(state, account)
  return username === '' ? null : username
}

export const GetProfile = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/me',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Who am I',
  description: 'The user behind the session. Balances and orders have reads of their own.',
  answer: 'The user.',
  refusals: READ,
  output: Profile,
  example: {
    input: {},
    output: {
      id: sample.USER, address: sample.ADDRESS, username: null, accountType: 'master', canWithdraw: true,
      depositAddress: '0x70f6A9A8E6C4b3EB3D0d0F0d3e1C5dC1C0b9aA21',      createdAt: sample.MOMENT, masterAccountId: null,
    },
  },
  run: (gateway, call) => {
    const { state } = gateway
    const { address, createdAt, createdSequence } = readAccount(state, call.account)
    const master = masterOf(state, call.account)
    call.answer({
      id: userId(createdSequence, call.account),
      address: addressText(address),
      username: usernameText(gateway, call.account),
      accountType: master < 0 ? 'master' : 'sub',
      // What a sub-account has leaves through its master.
      canWithdraw: gateway.vault.places !== null && canWithdraw(state, call.account),
      depositAddress: depositAddressOf(gateway, call.account),
      createdAt: rfc3339(createdAt),
      masterAccountId: master < 0 ? null : userIdOf(gateway, master),
    })
  },
})

export const Balance = record('Balance', 'Balance of one asset. Apply a higher version, treat an equal one as a '
  + 'duplicate, ignore a lower one.', Type.Object({
  assetId: fields.assetId,
  /** Contract address. */
  token: fields.token,
  symbol: field(Nullable(Type.String()), 'Symbol of the asset, or BASE/QUOTE of the pair.'),
  decimals: field(Type.Integer(), 'Digits of the token on the chain: raw amounts are this many places longer.'),
  amountDecimals: field(Type.Integer(), fields.AMOUNT_DECIMALS),
  availableBalance: field(Decimal, 'Free to use, in units of the token.'),
  lockedBalance: field(Decimal, 'Held for open orders, in units of the token.'),
  totalBalance: field(Decimal, 'Available plus locked.'),
  availableBalanceRaw: field(Type.String(), 'Available, in smallest units of the token.'),
  lockedBalanceRaw: field(Type.String(), 'Locked, in smallest units of the token.'),
  version: field(Type.Integer(), 'Ranks states of one thing: higher is newer.'),
}))

export function balanceRecord(asset: Asset, { available, locked, version }: BalanceView): Static<typeof Balance> {
  return {
    assetId: asset.id,
    token: asset.token,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amountDecimals: asset.scale,
    availableBalance: amountText(asset, available),
    lockedBalance: amountText(asset, locked),
    totalBalance: amountText(asset, available + locked),
    availableBalanceRaw: rawText(asset, available),
    lockedBalanceRaw: rawText(asset, locked),
    version: Number(version),
  }
}

/** Balances of every asset, zero ones included, in genesis order. */
export const balancesOf = (gateway: Gateway, account: number): BalanceView[] | null => readBalances(gateway.state, gateway.gate, account)

export const ListBalances = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/balances',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Balances',
  description: 'Balances of every asset, zero ones included, all of one moment.',
  answer: 'A page of balances.',
  refusals: READ,
  query: Type.Object(PageQuery),
  output: Type.Object({ balances: field(Type.Array(Balance), 'One row per asset, zero balances included.'), ...PageOutput }),
  example: { input: { page: 1, pageSize: 20 }, output: { balances: [sample.usdc], ...sample.page } },
  run: (gateway, call, input) => {
    const balances = balancesOf(gateway, call.account)
    if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const { items, ...page } = pageOf(balances, input.page, input.pageSize)
    call.answer({ balances: items.map((balance) => balanceRecord(gateway.genesis.assets[balance.asset]!, balance)), ...page })
  },
})

const ProvenBalance = Type.Object({
  ...Balance.properties,
  settlement: Type.Optional(field(
    Nullable(SettlementProof), 'With `proof`: what proves what the account had of the asset when the newest batch of settlement on the '
      + 'chain was opened; null when it had nothing then, and before the first batch.',
  )),
})

export const GetBalance = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/balances/{assetId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Balance of one asset',
  description: 'A known asset that was never held has zero balances; an unknown one is 404. With `proof=true` it also has what proves the '
    + 'balance of the last batch of settlement against the vault.',
  answer: 'The balance.',
  refusals: ['NOT_FOUND', ...READ, ...HISTORY],
  params: Type.Object({ assetId: fields.assetId }),
  query: Type.Object({ proof: Type.Optional(field(Type.Boolean(), 'With the `settlement` of the balance.')) }),
  output: ProvenBalance,
  example: { input: { assetId: sample.USDC }, output: sample.usdc },
  run: (gateway, call, input) => {
    const asset = assetOf(gateway, input.assetId)
    if (asset instanceof Refused) return call.refuse(asset)
    const balances = balancesOf(gateway, call.account)
    if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const balance = balanceRecord(asset, balances[asset.index]!)
    if (input.proof !== true) return call.answer(balance)
    askHistory(gateway.history, 'balanceProof', { account: call.account, asset: asset.index }, (found) => {
      if (found instanceof Refused) call.refuse(found)
      else call.answer({ ...balance, settlement: found === null ? null : balanceSettlement(found) })
    })
  },
})

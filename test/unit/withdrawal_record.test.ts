/**
 * Promise: a withdrawal goes where it was told or nowhere: a wrong checksum, the zero address and the exchange's own contracts are refused
 * by field. A record says amounts exactly, in units of the asset and of the token on the settlement chain, whatever decimals either has.
 */
import t from 'tap'
import { getAddress, isAddress } from 'viem'
import { IdKind, parseId, withdrawalId } from '../../core/layout/ids.ts'
import { WITHDRAWAL_STATUS_NAMES, WithdrawalFlag, WithdrawalStatus } from '../../core/layout/vault.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import type { Gateway } from '../../gateway/context.ts'
import { destinationOf } from '../../gateway/operations/destination.ts'
import { finishedRecord, hubTokenOf, withdrawalNamed, withdrawalRecord } from '../../gateway/operations/withdrawal_record.ts'
import { Refused } from '../../gateway/refused.ts'
import { PLACES, testGenesis } from '../support/gateway_harness.ts'

const document = JSON.parse(testGenesis())
/** On the hub BTC has more decimals than the asset, ETH less than its scale, and SEI is not there. */
const [hub] = document.sweeper.chains
hub.assets = hub.assets.map((each: { symbol: string }) => ({ ...each, decimals: { USDC: 6, BTC: 18, ETH: 4 }[each.symbol] }))
const genesis = parseGenesis(JSON.stringify(document))
const gateway = { genesis } as unknown as Gateway
const [usdc, btc, eth, sei] = genesis.assets
const token = hubTokenOf(genesis, usdc!)!
/** EIP-55's own examples. */
const CHECKSUMMED = [
  '0x52908400098527886E0F7030069857D2E4169EE7', '0xde709f2102306220921060314715629080e2fb77', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

t.test('addresses in one case, or with a right checksum', async (t) => {
  for (const address of CHECKSUMMED) {
    t.equal(getAddress(address), address)
    for (const text of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      t.equal(destinationOf(text, PLACES, token), address.toLowerCase(), text)
    }
  }
})

t.test('one letter in another case is another checksum, as viem has it', async (t) => {
  let seen = 0
  for (const address of CHECKSUMMED) {
    for (let at = 2; at < address.length; at++) {
      const letter = address[at]!
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
      const text = address.slice(0, at) + other + address.slice(at + 1)
      const inOneCase = text.slice(2) === text.slice(2).toLowerCase() || text.slice(2) === text.slice(2).toUpperCase()
      if (other === letter || inOneCase) continue
      t.notOk(isAddress(text))
      t.match(destinationOf(text, PLACES, token), new Refused('VALIDATION_ERROR', /checksum/ as never, { field: 'destination' }), text)
      seen++
    }
  }
  t.ok(seen > 60, `${seen} of them`)
})

t.test('what would keep it for nobody', async (t) => {
  for (const [what, address] of [
    ['zero address', `0x${'0'.repeat(40)}`], ['vault', PLACES.vault], ['factory', PLACES.factory], ['token', token.tokenAddress],
  ] as const) {
    for (const text of [address, getAddress(address)]) {
      const refused = destinationOf(text, PLACES, token)
      t.ok(refused instanceof Refused && refused.message.includes(what), `${what}: ${text}`)
      t.match(refused, { code: 'VALIDATION_ERROR', details: { field: 'destination' } })
    }
  }
  t.equal(destinationOf(token.tokenAddress, PLACES, hubTokenOf(genesis, btc!)!), token.tokenAddress, 'another token may be paid to it')
})

const facts = {
  row: 4, sequence: 77, asset: 0, amount: 1_250_001n, destination: CHECKSUMMED[2]!.toLowerCase(), status: 0,
  createdAt: Date.UTC(2026, 0, 15), deadline: 0, txHash: null, needsApproval: true,
}

t.test('the record of one that waits, and of one that was paid', async (t) => {
  t.strictSame(withdrawalRecord(gateway, { ...facts, status: WithdrawalStatus.PENDING }), {
    id: withdrawalId(77, 4), assetId: usdc!.id, token: token.tokenAddress, amount: '1.250001', amountRaw: '1250001',
    destination: CHECKSUMMED[2], status: 'PENDING', needsApproval: true, nonce: '77',
    createdAt: '2026-01-15T00:00:00.000Z', expiresAt: null,
  })
  const txHash = `0x${'ab'.repeat(32)}`
  const { needsApproval: _, ...rest } = facts
  const paid = finishedRecord(gateway, {
    ...rest, account: 1, updatedAt: 0, flags: 0, status: WithdrawalStatus.CONFIRMED, deadline: Date.UTC(2026, 0, 16), txHash,
  })
  t.match(paid, { status: 'CONFIRMED', needsApproval: false, txHash, expiresAt: '2026-01-16T00:00:00.000Z' })
  t.ok(finishedRecord(gateway, { ...rest, account: 1, updatedAt: 0, flags: WithdrawalFlag.NEEDS_APPROVAL }).needsApproval)
  for (const [status, name] of WITHDRAWAL_STATUS_NAMES.entries()) {
    if (name !== '') t.equal(withdrawalRecord(gateway, { ...facts, status }).status, name)
  }
})

t.test('amounts in smallest units of the token', async (t) => {
  const raw = (asset: number, amount: bigint): string => withdrawalRecord(gateway, { ...facts, asset, amount }).amountRaw
  t.equal(raw(btc!.index, 1n), '10000000000', 'ten decimals more than the asset')
  t.equal(raw(eth!.index, 1_500_000_000n), '15000', 'five less')
  t.equal(hubTokenOf(genesis, sei!), undefined)
  t.equal(raw(sei!.index, 1n), String(10n ** BigInt(sei!.decimals - sei!.scale)))
})

t.test('ids', async (t) => {
  t.strictSame(withdrawalNamed(withdrawalId(77, 4).toUpperCase()), { kind: IdKind.WITHDRAWAL, sequence: 77, slot: 4 })
  t.equal(parseId(IdKind.FOLLOW, withdrawalId(77, 4)), null, 'of another kind')
  t.match(withdrawalNamed('00000000-0000-4000-8000-000000000000'), { code: 'NOT_FOUND', details: { field: 'withdrawalId' } })
})

/**
 * Promise: vault, factory and test token do what a slow obvious model of them does, for any calls of anybody in any order, with honest
 * tokens and one that misbehaves; and whoever sees only events and balances finds at every moment that the vault holds what it owes, that
 * no nonce pays twice, that no day has more than its limit, and that deposits and batches have no gaps. 10,000 calls in the deep suite.
 */
import t from 'tap'
import { compile, sourcesOf } from '../../gateway/generate/contracts.ts'
import { DEEP, rounds, seedOf } from '../suite/rounds.ts'
import { VaultFuzz } from '../support/vault_fuzz.ts'
import type { Placed } from '../support/vault_ground.ts'

t.setTimeout(1_800_000)

const SEED = seedOf()
const CALLS = rounds({ short: 1_000, deep: 10_000 })
const FILE = 'test/property/contracts_equal_model.test.ts'
t.comment(`seed ${SEED}; again: SEED=${SEED} ROUNDS=${CALLS} npm test -- ${FILE}`)

/** What must happen among 1,000 calls, and among 10,000. */
const OFTEN = ['deposit done', 'withdraw done', 'sweep done', 'sweepMany done', 'postBatch done', 'setToken done', 'mint done']
const SELDOM = [
  'deposit VaultPaused', 'deposit TokenNotListed', 'deposit TokenFailed', 'deposit NothingArrived', 'withdraw BadSignature',
  'withdraw NonceUsed', 'withdraw DailyLimit', 'withdraw Expired', 'withdraw BadDestination', 'withdraw WrongAmountLeft',
  'withdraw TokenFailed', 'sweep NothingToSweep', 'acceptOperator done', 'acceptOwner done', 'postBatch BatchOutOfOrder',
  'postBatch ThroughNotRising', 'rescue TokenKnown', 'rescue done', 'pause done', 'unpause done', 'setToken Forbidden',
]

t.test(`${CALLS} random calls`, async (t) => {
  const fuzz = await VaultFuzz.create({ seed: SEED })
  let wrong: string | null = null
  while (wrong === null && fuzz.calls < CALLS) wrong = await fuzz.step()
  t.equal(wrong ?? (await fuzz.lookAtAll()), null, `seed ${SEED}`)
  const missing = (CALLS < 10_000 ? OFTEN : [...OFTEN, ...SELDOM]).filter((name) => !fuzz.counts.has(name))
  if (CALLS >= 1_000) t.strictSame(missing, [], 'all of these happened')
  if (DEEP) t.comment([...fuzz.counts].sort().map(([name, count]) => `${name}: ${count}`).join(', '))
})

/** Faults of the vault, which calls of the same seed must find. */
const FAULTS: readonly [name: string, file: string, right: string, wrong: string][] = [
  ['what was asked for is credited, not what arrived', 'Vault.sol', 'held - before, msg.sender', 'amount, msg.sender'],
  ['a nonce pays again', 'Vault.sol', 'if (isNonceUsed(nonce)) revert NonceUsed(nonce);', ''],
  ['nonces share a word', 'Vault.sol', 'nonceBitmap[nonce / 256] & (1', 'nonceBitmap[0] & (1'],
  ['no limit', 'Vault.sol', 'if (amount > remaining) revert', 'if (amount > remaining + 1) revert'],
  ['the limit is of all days', 'Vault.sol', 'entry.day == today() ? entry.used : 0', 'entry.used'],
  ['the use of a day is forgotten', 'Vault.sol', '? entry.used + amount : amount', '? amount : amount'],
  ['the deadline is a second longer', 'Vault.sol', 'if (block.timestamp > deadline)', 'if (block.timestamp - 1 > deadline)'],
  ['the destination is not signed', 'Vault.sol', 'WITHDRAWAL, token, amount, destination,', 'WITHDRAWAL, token, amount, msg.sender,'],
  ['what left is not measured', 'Vault.sol', 'if (left != amount)', 'if (left > amount * 2)'],
  ['what was taken off the list is rescued', 'Vault.sol', 'if (listed) entry.known = true;\n', 'entry.known = listed;\n'],
  ['a batch is left out', 'Vault.sol', 'if (number != last + 1)', 'if (number <= last)'],
  ['a batch stands still', 'Vault.sol', 'if (through <= posted', 'if (through < posted'],
  ['anybody accepts', 'Roles.sol', 'if (msg.sender != pendingOperator) revert Forbidden();', ''],
  ['the operator opens again', 'Roles.sol', 'function unpause() external onlyOwner', 'function unpause() external'],
  ['false is success', 'Tokens.sol', '&& uint256(bytes32(answer)) == 1', '&& uint256(bytes32(answer)) < 2'],
]

/** A few hundred are enough for most faults. */
const MOST = 10_000

t.test('faults that are planted are found', async (t) => {
  const chosen = DEEP ? FAULTS : [0, 5, 10].map((at) => FAULTS[(SEED + at) % FAULTS.length]!)
  for (const [name, file, right, wrong] of chosen) {
    const sources = sourcesOf('Vault.sol')
    t.equal(sources[file]!.split(right).length, 2, `${name}: its place is there once`)
    const { abi, evm } = compile({ ...sources, [file]: sources[file]!.replace(right, wrong) })['Vault']!
    const fuzz = await VaultFuzz.create({ seed: SEED, vault: { abi: abi as Placed['abi'], bytecode: `0x${evm.bytecode.object}` } })
    let found: string | null = null
    while (found === null && fuzz.calls < MOST) found = await fuzz.step()
    t.not(found, null, `${name}: ${found ?? 'not found'}`)
  }
})

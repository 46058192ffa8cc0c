/**
 * Promise: no token can make the vault tell of more than arrived, pay other than what was signed, or do two things at once; what a hostile
 * token does costs its own holders only.
 */
import t from 'tap'
import { encodeFunctionData, toFunctionSelector, type Hex } from 'viem'
import {
  ALICE, authorisation, authorise, balanceOf, BOB, DEFAULT, deposit, done, give, hostileToken, MAX, newStage, newToken, OPERATOR, OWNER,
  STRANGER, told, withdraw, withdrawal, type Outcome, type Placed, type Stage,
} from '../support/vault_ground.ts'

t.setTimeout(240_000)

/** As in contracts/HostileToken.sol. */
const MODES = ['Honest', 'Silent', 'False', 'Lies', 'Reverts', 'Fee', 'Surcharge', 'Two', 'Short', 'Endless', 'Backwards'] as const
type Mode = (typeof MODES)[number]
const HOOK = { transfer: 1n, transferFrom: 2n, approve: 3n } as const
const REENTERED = toFunctionSelector('Reentered()')

interface Hostile extends Stage {
  readonly bad: Placed
}

/** A hostile token that is listed; the vault holds 5,000 of it and of the honest one, Alice has 10,000 more. */
async function hostileStage(): Promise<Hostile> {
  const stage = await newStage()
  const { ground, vault } = stage
  const bad = await newToken(ground, hostileToken())
  await done(ground.act(OWNER, vault, 'setToken', [bad.address, true, 1_000_000n]))
  await give(ground, bad, ALICE.address, 15_000n)
  await done(ground.act(ALICE, bad, 'approve', [vault.address, MAX]))
  await done(deposit(stage, 5_000n, bad))
  await done(deposit(stage, 5_000n))
  return { ...stage, bad }
}

const setMode = ({ ground, bad }: Hostile, mode: Mode): Promise<Outcome> =>
  done(ground.act(STRANGER, bad, 'setMode', [MODES.indexOf(mode)]))
const amounts = (outcome: Outcome, by: Placed): unknown[] => told(outcome, by).map(([, { amount }]) => amount)

t.test('a deposit is credited with what arrived, or refused', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, token, bad } = stage
  const expected: Record<Mode, bigint | string> = {
    Honest: 1_000n, Silent: 1_000n, Fee: 900n, Surcharge: 1_000n, Lies: 'NothingArrived()', Backwards: 'NothingArrived()',
    False: `TokenFailed(${bad.address})`, Reverts: `TokenFailed(${bad.address})`, Two: `TokenFailed(${bad.address})`,
    Short: `TokenFailed(${bad.address})`, Endless: `TokenFailed(${bad.address})`,
  }
  for (const mode of MODES) {
    await setMode(stage, mode)
    const before = await balanceOf(ground, bad, vault.address)
    const outcome = await deposit(stage, 1_000n, bad)
    const arrived = (await balanceOf(ground, bad, vault.address)) - before
    const credited = outcome.error ?? (amounts(outcome, vault)[0] as bigint)
    t.equal(credited, expected[mode], mode)
    t.equal(arrived, typeof credited === 'bigint' ? credited : 0n, `${mode}: what is told arrived`)
  }
  t.equal(await balanceOf(ground, token, vault.address), 5_000n, 'the other token is untouched')
})

t.test('a withdrawal takes its amount out of the vault to the atom, or is refused and may come again', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, bad } = stage
  const failed = `TokenFailed(${bad.address})`
  // What leaves the vault, and what arrives; or what is wrong.
  const expected: Record<Mode, bigint | string> = {
    Honest: 100n, Silent: 100n, Fee: 90n, Surcharge: 'WrongAmountLeft(100, 110)', Lies: 'WrongAmountLeft(100, 0)',
    Backwards: 'WrongAmountLeft(100, 0)', False: failed, Reverts: failed, Two: failed, Short: failed, Endless: failed,
  }
  for (const [at, mode] of MODES.entries()) {
    await setMode(stage, mode)
    const [nonce, remaining] = [BigInt(at), await ground.read<bigint>(vault, 'remainingToday', [bad.address])]
    const [before, had] = [await balanceOf(ground, bad, vault.address), await balanceOf(ground, bad, ALICE.address)]
    const outcome = await withdraw(stage, { token: bad.address, nonce })
    const got = (await balanceOf(ground, bad, ALICE.address)) - had
    const isPaid = outcome.error === null
    t.equal(outcome.error ?? got, expected[mode], mode)
    t.equal(before - (await balanceOf(ground, bad, vault.address)), isPaid ? 100n : 0n, `${mode}: what left`)
    t.equal(await ground.read(vault, 'isNonceUsed', [nonce]), isPaid, `${mode}: the nonce`)
    t.equal(remaining - (await ground.read<bigint>(vault, 'remainingToday', [bad.address])), isPaid ? 100n : 0n, `${mode}: the limit`)
  }
  await setMode(stage, 'Honest')
  t.equal((await withdraw(stage, { token: bad.address, nonce: BigInt(MODES.indexOf('Lies')) })).error, null, 'once the token behaves')
})

t.test('a sweep credits what arrived, or leaves all where it is', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, factory, bad } = stage
  const failed = `TokenFailed(${bad.address})`
  const expected: Record<Mode, bigint | string> = {
    Honest: 1_000n, Silent: 1_000n, Fee: 900n, Lies: 'NothingArrived()', Backwards: 'NothingArrived()', Surcharge: failed,
    False: failed, Reverts: failed, Two: failed, Short: failed, Endless: failed,
  }
  for (const [at, mode] of MODES.entries()) {
    await setMode(stage, mode)
    const application: Hex = `0x${at.toString(16).padStart(32, '0')}`
    const address = await ground.read<Hex>(factory, 'addressOf', [BOB.address, application])
    await give(ground, bad, address, 1_000n)
    const outcome = await ground.act(STRANGER, factory, 'sweep', [BOB.address, application, bad.address])
    t.equal(outcome.error ?? amounts(outcome, vault)[0], expected[mode], mode)
    t.equal(await balanceOf(ground, bad, address), outcome.error === null ? 0n : 1_000n, `${mode}: at the address`)
  }
})

t.test('a token that shrinks all balances can never be paid twice or beyond what is there', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, token, bad } = stage
  await done(ground.act(STRANGER, bad, 'rebase', [5n * 10n ** 17n]))
  t.equal(await balanceOf(ground, bad, vault.address), 2_500n)
  t.equal((await withdraw(stage, { token: bad.address, amount: 2_501n })).error, `TokenFailed(${bad.address})`)
  t.equal(await ground.read(vault, 'isNonceUsed', [7n]), false)
  t.equal((await withdraw(stage, { token: bad.address, amount: 2_400n })).error, null)
  await done(ground.act(STRANGER, bad, 'rebase', [333_333_333_333_333_333n]))
  for (let nonce = 10n; nonce < 16n; nonce++) {
    const before = await balanceOf(ground, bad, vault.address)
    const outcome = await withdraw(stage, { token: bad.address, amount: 3n, nonce })
    const left = before - (await balanceOf(ground, bad, vault.address))
    t.equal(left, outcome.error === null ? 3n : 0n, 'where it rounds, exactly or not at all')
  }
  t.equal(await balanceOf(ground, token, vault.address), 5_000n, 'the other token is untouched')
})

/** Calls that the token makes in the middle of another one; each would be good at any other time. */
async function reentries(stage: Hostile): Promise<[name: string, to: Hex, data: Hex][]> {
  const { ground, vault, factory, token, bad } = stage
  const data = (on: Placed, functionName: string, args: readonly unknown[]): Hex => encodeFunctionData({ abi: on.abi, functionName, args })
  await give(ground, token, bad.address, 1_000n)
  await done(ground.act(STRANGER, bad, 'execute', [token.address, data(token, 'approve', [vault.address, MAX])]))
  for (const coin of [token, bad]) await give(ground, coin, await ground.read<Hex>(factory, 'addressOf', [BOB.address, DEFAULT]), 500n)
  const lost = await newToken(ground, 'TestToken')
  await give(ground, lost, vault.address, 50n)
  await done(ground.act(OWNER, vault, 'proposeOwner', [bad.address]))
  await done(ground.act(STRANGER, bad, 'execute', [vault.address, data(vault, 'acceptOwner', [])]))
  const paid = async (of: Placed, nonce: bigint): Promise<Hex> => {
    const message = authorisation(stage, { token: of.address, nonce, destination: bad.address })
    return data(vault, 'withdraw', withdrawal(message, await authorise(stage, message)))
  }
  const sweep = (of: Placed): unknown => ({ beneficiary: BOB.address, application: DEFAULT, token: of.address })
  return [
    ['a deposit', vault.address, data(vault, 'deposit', [token.address, 10n, STRANGER.address, DEFAULT])],
    ['a withdrawal of the other token', vault.address, await paid(token, 900n)],
    ['a withdrawal of this token', vault.address, await paid(bad, 901n)],
    ['a sweep of the other token', factory.address, data(factory, 'sweep', [BOB.address, DEFAULT, token.address])],
    ['a sweep of this token', factory.address, data(factory, 'sweep', [BOB.address, DEFAULT, bad.address])],
    ['several sweeps', factory.address, data(factory, 'sweepMany', [[sweep(token), sweep(bad)]])],
    ['a rescue', vault.address, data(vault, 'rescue', [lost.address, bad.address, 50n])],
  ]
}

const setHook = ({ ground, bad }: Hostile, at: keyof typeof HOOK, to: Hex, data: Hex): Promise<Outcome> =>
  done(ground.act(STRANGER, bad, 'setHook', [HOOK[at], to, data]))

t.test('a token that calls back finds the door shut', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, factory, token, bad } = stage
  const calls = await reentries(stage)
  let nonce = 0n
  for (const [name, to, data] of calls) {
    const check = async (during: string, outcome: Outcome, amount: bigint): Promise<void> => {
      t.equal(outcome.error, null, `${name} during ${during}: what was begun is done`)
      t.strictSame(amounts(outcome, vault), [amount], 'and that alone')
      t.equal(await ground.read(bad, 'hookDone'), false)
      t.equal(await ground.read(bad, 'hookAnswer'), REENTERED)
    }
    await setHook(stage, 'transferFrom', to, data)
    await check('a deposit', await deposit(stage, 100n, bad), 100n)
    await setHook(stage, 'transfer', to, data)
    await check('a withdrawal', await withdraw(stage, { token: bad.address, nonce: nonce++ }), 100n)
    if (to !== factory.address) continue
    await setHook(stage, 'approve', to, data)
    const address = await ground.read<Hex>(factory, 'addressOf', [ALICE.address, DEFAULT])
    await give(ground, bad, address, 30n)
    await check('a sweep', await ground.act(STRANGER, factory, 'sweep', [ALICE.address, DEFAULT, bad.address]), 30n)
  }
  t.equal(await balanceOf(ground, token, vault.address), 5_000n)
  t.equal(await ground.read(vault, 'nonceBitmap', [900n / 256n]), 0n, 'none of the other authorisations was used')
  for (const [name, to, data] of calls.slice(0, 5)) {
    t.equal((await ground.send(bad.address, to, data)).error, null, `${name}: at any other time`)
  }
})

t.test('a token that rescues itself, called back in the rescue, gets nothing more', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, bad } = stage
  const fake = await newToken(ground, hostileToken())
  await give(ground, fake, vault.address, 10n)
  const message = authorisation(stage, { token: bad.address })
  const data = encodeFunctionData({ abi: vault.abi, functionName: 'withdraw', args: withdrawal(message, await authorise(stage, message)) })
  await done(ground.act(STRANGER, fake, 'setHook', [HOOK.transfer, vault.address, data]))
  t.equal((await ground.act(OWNER, vault, 'rescue', [fake.address, OWNER.address, 10n])).error, null)
  t.equal(await ground.read(fake, 'hookAnswer'), REENTERED)
})

t.test('whoever looks in the middle of a withdrawal sees it done', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, bad } = stage
  for (const [view, args, seen] of [['isNonceUsed', [7n], 1n], ['remainingToday', [bad.address], 999_800n]] as const) {
    await setHook(stage, 'transfer', vault.address, encodeFunctionData({ abi: vault.abi, functionName: view, args }))
    await done(withdraw(stage, { token: bad.address, nonce: view === 'isNonceUsed' ? 7n : 8n }))
    t.equal(BigInt(await ground.read<Hex>(bad, 'hookAnswer')), seen, view)
  }
})

t.test('what is paid on top in the middle of a deposit is the vault\'s, told once', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, bad } = stage
  // The token pays the vault itself while it is asked to move a deposit of 100: all of it arrived, so all is credited, to one account.
  const again = encodeFunctionData({ abi: bad.abi, functionName: 'give', args: [vault.address, 40n] })
  await setHook(stage, 'transferFrom', bad.address, again)
  const before = await balanceOf(ground, bad, vault.address)
  t.strictSame(amounts(await deposit(stage, 100n, bad), vault), [140n])
  t.equal((await balanceOf(ground, bad, vault.address)) - before, 140n)
})

t.test('an operator cannot be reached by way of a token: roles are of the sender', async (t) => {
  const stage = await hostileStage()
  const { ground, vault, bad } = stage
  for (const [functionName, args] of [
    ['pause', []], ['unpause', []], ['setToken', [bad.address, true, MAX]], ['proposeOperator', [bad.address]], ['acceptOperator', []],
    ['postBatch', [1n, 1n, 0, `0x${'00'.repeat(32)}`, 0, `0x${'00'.repeat(32)}`]],
  ] as const) {
    await setHook(stage, 'transferFrom', vault.address, encodeFunctionData({ abi: vault.abi, functionName, args }))
    await done(deposit(stage, 1n, bad))
    t.equal(await ground.read(bad, 'hookDone'), false, functionName)
  }
  t.equal(await ground.read(vault, 'operator'), OPERATOR.address)
})

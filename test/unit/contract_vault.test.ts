/**
 * Promise: the vault takes what arrives, pays what the operator signed, once, in time, within the day's limit and while it is open, and
 * tells each of them by an event; owner and operator do what is theirs and nobody else does. On the machine of the embedded chain.
 */
import t from 'tap'
import { hashTypedData, keccak256, parseSignature, signatureToCompactSignature, toBytes, toHex, type Hex } from 'viem'
import { withdrawalTypedData } from '../../gateway/chain/vault/typed_data.ts'
import {
  ALICE, authorisation, authorise, balanceOf, BOB, DAY, DEFAULT, deposit, done, give, MAX, MIDNIGHT, newStage, newToken, OPERATOR, OTHER,
  OWNER, STRANGER, told, withdraw, withdrawal, ZERO, type Stage,
} from '../support/vault_ground.ts'

t.setTimeout(180_000)

const text = (error: string | null): string => error ?? 'done'

t.test('a deposit is told with its number, what arrived, for whom and from whom', async (t) => {
  const stage = await newStage()
  const { ground, vault, token } = stage
  const first = await ground.act(ALICE, vault, 'deposit', [token.address, 1_000n, BOB.address, OTHER])
  t.strictSame(told(first, vault), [['Deposit', {
    id: 1n, token: token.address, beneficiary: BOB.address, application: OTHER, amount: 1_000n, from: ALICE.address,
  }]])
  t.strictSame(told(await deposit(stage, 1n), vault), [['Deposit', {
    id: 2n, token: token.address, beneficiary: ALICE.address, application: DEFAULT, amount: 1n, from: ALICE.address,
  }]])
  t.equal(await balanceOf(ground, token, vault.address), 1_001n)
  t.equal(await ground.read(vault, 'depositCount'), 2n)
})

t.test('a deposit is refused: of nothing, of too much, for nobody, of a token not listed, while the vault is paused', async (t) => {
  const { ground, vault, token } = await newStage()
  const other = await newToken(ground, 'TestToken')
  const ask = async (of: Hex, amount: bigint, beneficiary: Hex): Promise<string> =>
    text((await ground.act(ALICE, vault, 'deposit', [of, amount, beneficiary, DEFAULT])).error)
  t.equal(await ask(token.address, 0n, ALICE.address), 'ZeroAmount()')
  t.equal(await ask(token.address, 1_000_001n, ALICE.address), `TokenFailed(${token.address})`)
  t.equal(await ask(token.address, 1n, ZERO), 'ZeroAddress()')
  t.equal(await ask(other.address, 1n, ALICE.address), `TokenNotListed(${other.address})`)
  t.equal(await ask(ALICE.address, 1n, ALICE.address), `TokenNotListed(${ALICE.address})`)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, false, 0n]))
  t.equal(await ask(token.address, 1n, ALICE.address), `TokenNotListed(${token.address})`)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, 0n]))
  await done(ground.act(OWNER, vault, 'pause'))
  t.equal(await ask(token.address, 1n, ALICE.address), 'VaultPaused()')
  await done(ground.act(OWNER, vault, 'unpause'))
  t.equal(await ask(token.address, 1n, ALICE.address), 'done')
})

t.test('what is signed is what viem would sign, and the domain is the vault of this chain', async (t) => {
  const stage = await newStage()
  const { ground, vault } = stage
  const domain = keccak256(`0x${[
    keccak256(toBytes('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)')),
    keccak256(toBytes('Ringbook Vault')), keccak256(toBytes('1')),
    toHex(1328n, { size: 32 }), toHex(BigInt(vault.address), { size: 32 }),
  ].map((word) => word.slice(2)).join('')}`)
  t.equal(await ground.read(vault, 'domainSeparator'), domain)
  const message = authorisation(stage)
  const content = keccak256(`0x${[
    keccak256(toBytes('Withdrawal(address token,uint256 amount,address destination,uint256 nonce,uint256 deadline)')),
    ...[BigInt(message.token), message.amount, BigInt(message.destination), message.nonce, message.deadline]
      .map((value) => toHex(value, { size: 32 })),
  ].map((word) => word.slice(2)).join('')}`)
  const typed = withdrawalTypedData({ chainId: 1328, vault: vault.address, factory: ZERO }, message)
  t.equal(hashTypedData(typed), keccak256(`0x1901${domain.slice(2)}${content.slice(2)}`))
  await done(deposit(stage, 100n))
  t.equal((await withdraw(stage)).error, null, 'and the vault takes it')
})

t.test('a withdrawal pays once, whoever sends it, and is told', async (t) => {
  const stage = await newStage()
  const { ground, vault, token } = stage
  await done(deposit(stage, 1_000n))
  t.equal(await ground.read(vault, 'isNonceUsed', [7n]), false)
  const paid = await withdraw(stage, { destination: BOB.address }, STRANGER)
  t.strictSame(told(paid, vault), [['Withdrawal', { nonce: 7n, token: token.address, destination: BOB.address, amount: 100n }]])
  t.equal(await balanceOf(ground, token, BOB.address), 1_000_100n)
  t.equal(await balanceOf(ground, token, vault.address), 900n)
  t.equal(await ground.read(vault, 'isNonceUsed', [7n]), true)
  t.equal(text((await withdraw(stage, { destination: BOB.address })).error), 'NonceUsed(7)')
  t.equal(text((await withdraw(stage, { amount: 1n })).error), 'NonceUsed(7)', 'by another authorisation of the same nonce too')
  t.equal(await balanceOf(ground, token, vault.address), 900n)
})

t.test('a withdrawal is refused: late, of nothing or too much, to nobody or the vault, of what is not listed, paused', async (t) => {
  const stage = await newStage()
  const { ground, vault, token } = stage
  await done(deposit(stage, 1_000n))
  const other = await newToken(ground, 'TestToken')
  await give(ground, other, vault.address, 1_000n)
  const ask = async (change: Parameters<typeof withdraw>[1]): Promise<string> => text((await withdraw(stage, change)).error)
  t.equal(await ask({ deadline: ground.time - 1n }), `Expired(${ground.time - 1n})`)
  t.equal(await ask({ deadline: 0n }), 'Expired(0)')
  t.equal(await ask({ amount: 0n }), 'ZeroAmount()')
  t.equal(await ask({ amount: 1_001n }), `TokenFailed(${token.address})`)
  t.equal(await ask({ amount: MAX }), `TokenFailed(${token.address})`)
  t.equal(await ask({ destination: ZERO }), `BadDestination(${ZERO})`)
  t.equal(await ask({ destination: vault.address }), `BadDestination(${vault.address})`)
  t.equal(await ask({ token: other.address as Hex }), `TokenNotListed(${other.address})`)
  await done(ground.act(OPERATOR, vault, 'pause'))
  t.equal(await ask({}), 'VaultPaused()')
  await done(ground.act(OWNER, vault, 'unpause'))
  t.equal(await ground.read(vault, 'isNonceUsed', [7n]), false, 'none of them used the nonce')
  t.equal(await ask({ deadline: ground.time }), 'done', 'the second of the deadline is in time')
  t.equal(await ask({ deadline: MAX, nonce: MAX, amount: 900n }), 'done', 'all there is, and the largest numbers')
})

t.test('nonces are bits of words of 256', async (t) => {
  const stage = await newStage()
  const { ground, vault } = stage
  await done(deposit(stage, 1_000n))
  for (const nonce of [0n, 255n, 256n, 511n, MAX]) {
    const before = await ground.read<bigint>(vault, 'nonceBitmap', [nonce / 256n])
    t.equal(text((await withdraw(stage, { nonce, amount: 1n })).error), 'done')
    t.equal(await ground.read(vault, 'nonceBitmap', [nonce / 256n]), before | (1n << (nonce % 256n)), `${nonce}`)
  }
  for (const nonce of [1n, 254n, 257n, 510n, MAX - 1n]) t.equal(await ground.read(vault, 'isNonceUsed', [nonce]), false, `not ${nonce}`)
})

t.test('the daily limit is of a UTC day and of a token', async (t) => {
  const stage = await newStage()
  const { ground, vault, token } = stage
  const other = await newToken(ground, 'TestToken')
  for (const one of [token, other]) await give(ground, one, vault.address, 1_000_000n)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, 500n]))
  await done(ground.act(OWNER, vault, 'setToken', [other.address, true, 500n]))
  let nonce = 0n
  const ask = async (amount: bigint, of = token): Promise<string> =>
    text((await withdraw(stage, { amount, nonce: nonce++, token: of.address as Hex })).error)
  const left = (): Promise<bigint> => ground.read(vault, 'remainingToday', [token.address])

  ground.time = MIDNIGHT + DAY - 1n
  t.equal(await ask(501n), 'DailyLimit(500)')
  t.equal(await ask(300n), 'done')
  t.strictSame(await ground.read(vault, 'tokens', [token.address]), [true, 500n, MIDNIGHT / DAY, 300n])
  t.equal(await ask(201n), 'DailyLimit(200)')
  t.equal(await ask(200n), 'done', 'to the atom')
  t.equal(await left(), 0n)
  t.equal(await ask(1n), 'DailyLimit(0)')
  t.equal(await ask(500n, other), 'done', 'each token has its own')
  ground.time = MIDNIGHT + DAY
  t.equal(await left(), 500n, 'a new day')
  t.equal(await ask(500n), 'done')
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, 100n]))
  t.equal(await left(), 0n, 'a lower limit counts what left already')
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, 600n]))
  t.equal(await left(), 100n)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, 0n]))
  ground.time += DAY
  t.equal(await ask(1n), 'DailyLimit(0)', 'zero lets nothing out')
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, MAX]))
  t.equal(await ask(900_000n), 'done', 'the largest number is no limit')
  t.equal(await left(), MAX - 900_000n)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, false, MAX]))
  t.equal(await left(), 0n, 'nothing of what is not listed')
})

t.test('the owner lists tokens; nobody else; nothing that is no contract', async (t) => {
  const { ground, vault, token } = await newStage()
  const set = await ground.act(OWNER, vault, 'setToken', [token.address, true, 5n])
  t.strictSame(told(set, vault), [['TokenSet', { token: token.address, listed: true, dailyLimit: 5n }]])
  for (const who of [OPERATOR, STRANGER]) {
    t.equal((await ground.act(who, vault, 'setToken', [token.address, true, 5n])).error, 'Forbidden()')
  }
  t.equal((await ground.act(OWNER, vault, 'setToken', [ALICE.address, true, 5n])).error, `NotAContract(${ALICE.address})`)
  t.equal((await ground.act(OWNER, vault, 'setToken', [ALICE.address, false, 5n])).error, null, 'what is gone may be taken off')
  t.strictSame(await ground.read(vault, 'tokens', [BOB.address]), [false, 0n, 0n, 0n])
})

t.test('the owner and the operator pause, the owner alone opens again', async (t) => {
  const { ground, vault } = await newStage()
  t.equal(await ground.read(vault, 'paused'), false)
  t.equal((await ground.act(OWNER, vault, 'unpause')).error, 'NotPaused()')
  for (const who of [OWNER, OPERATOR]) {
    t.strictSame(told(await ground.act(who, vault, 'pause'), vault), [['Paused', { by: who.address }]])
    t.equal(await ground.read(vault, 'paused'), true)
    t.equal((await ground.act(who, vault, 'pause')).error, 'VaultPaused()')
    for (const other of [OPERATOR, STRANGER]) t.equal((await ground.act(other, vault, 'unpause')).error, 'Forbidden()')
    t.strictSame(told(await ground.act(OWNER, vault, 'unpause'), vault), [['Unpaused', { by: OWNER.address }]])
  }
  t.equal((await ground.act(STRANGER, vault, 'pause')).error, 'Forbidden()')
})

for (const [role, propose, accept, events] of [
  ['operator', 'proposeOperator', 'acceptOperator', ['OperatorProposed', 'OperatorChanged']],
  ['owner', 'proposeOwner', 'acceptOwner', ['OwnerProposed', 'OwnerChanged']],
] as const) {
  t.test(`the ${role} changes in two steps`, async (t) => {
    const { ground, vault } = await newStage()
    const before = role === 'owner' ? OWNER : OPERATOR
    const pending = (): Promise<Hex> => ground.read(vault, role === 'owner' ? 'pendingOwner' : 'pendingOperator')
    const ask = async (who: typeof OWNER, name: string, args: readonly unknown[] = []): Promise<string> =>
      text((await ground.act(who, vault, name, args)).error)
    for (const who of [OPERATOR, STRANGER]) t.equal(await ask(who, propose, [who.address]), 'Forbidden()', 'the owner proposes')
    t.equal(await ask(STRANGER, accept), 'Forbidden()', 'nobody is proposed')
    t.strictSame(told(await ground.act(OWNER, vault, propose, [ALICE.address]), vault), [[events[0], { [role]: ALICE.address }]])
    t.equal(await ground.read(vault, role), before.address, 'a proposal alone changes nothing')
    t.equal(await pending(), ALICE.address)
    for (const who of [OWNER, OPERATOR, BOB]) t.equal(await ask(who, accept), 'Forbidden()', 'only who was proposed accepts')
    t.equal(await ask(OWNER, propose, [BOB.address]), 'done')
    t.equal(await ask(ALICE, accept), 'Forbidden()', 'the last proposal stands')
    t.equal(await ask(OWNER, propose, [ZERO]), 'done')
    t.equal(await ask(BOB, accept), 'Forbidden()', 'taken back')
    t.equal(await ask(OWNER, propose, [BOB.address]), 'done')
    t.strictSame(told(await ground.act(BOB, vault, accept), vault), [[events[1], { before: before.address, [role]: BOB.address }]])
    t.equal(await ground.read(vault, role), BOB.address)
    t.equal(await pending(), ZERO)
    t.equal(await ask(BOB, accept), 'Forbidden()', 'once')
    t.equal(await ask(role === 'owner' ? OWNER : OPERATOR, role === 'owner' ? propose : 'pause', role === 'owner' ? [ALICE.address] : []),
      'Forbidden()', 'the one before is nobody')
  })
}

t.test('a vault needs an owner and an operator', async (t) => {
  const { ground } = await newStage()
  for (const pair of [[ZERO, OPERATOR.address], [OWNER.address, ZERO]]) await t.rejects(ground.create('Vault', pair), /not created/)
  t.ok(await ground.create('Vault', [OWNER.address, OPERATOR.address]))
})

t.test('the owner gives back what was sent by mistake, and never what was ever listed', async (t) => {
  const stage = await newStage()
  const { ground, vault, token } = stage
  const lost = await newToken(ground, 'TestToken')
  await give(ground, lost, vault.address, 50n)
  await done(deposit(stage, 100n))
  for (const who of [OPERATOR, STRANGER]) {
    t.equal((await ground.act(who, vault, 'rescue', [lost.address, BOB.address, 50n])).error, 'Forbidden()')
  }
  t.equal((await ground.act(OWNER, vault, 'rescue', [lost.address, ZERO, 50n])).error, 'ZeroAddress()')
  const rescued = await ground.act(OWNER, vault, 'rescue', [lost.address, BOB.address, 50n])
  t.strictSame(told(rescued, vault), [['Rescued', { token: lost.address, to: BOB.address, amount: 50n }]])
  t.equal(await balanceOf(ground, lost, BOB.address), 50n)
  t.equal((await ground.act(OWNER, vault, 'rescue', [token.address, BOB.address, 1n])).error, `TokenKnown(${token.address})`)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, false, 0n]))
  t.equal((await ground.act(OWNER, vault, 'rescue', [token.address, BOB.address, 1n])).error, `TokenKnown(${token.address})`)
})

t.test('signatures have one form', async (t) => {
  const stage = await newStage()
  const { ground, vault } = stage
  await done(deposit(stage, 1_000n))
  const message = authorisation(stage)
  const signature = await authorise(stage, message)
  const { yParity, r, s } = parseSignature(signature)
  const compact = signatureToCompactSignature({ r, s, yParity })
  const ask = async (bytes: Hex): Promise<string> =>
    text((await ground.act(STRANGER, vault, 'withdraw', withdrawal(message, bytes))).error)
  for (const [name, bytes] of [
    ['none', '0x'], ['64 bytes', signature.slice(0, -2)], ['66 bytes', `${signature}00`],
    ['compact (EIP-2098)', `${compact.r}${compact.yParityAndS.slice(2)}`],
    ['v 0 or 1', `${signature.slice(0, -2)}0${yParity}`], ['v 29', `${signature.slice(0, -2)}1d`],
    ['v of the other point', `${signature.slice(0, -2)}${yParity === 0 ? '1c' : '1b'}`],
    ['zeros', `0x${'00'.repeat(65)}`], ['zeros with v', `0x${'00'.repeat(64)}1b`], ['r 0', `0x${'00'.repeat(32)}${s.slice(2)}1b`],
    ['s 0', `${r}${'00'.repeat(32)}1b`], ['r too large', `0x${'ff'.repeat(32)}${s.slice(2)}1b`],
  ] as [string, Hex][]) t.equal(await ask(bytes), 'BadSignature()', name)
  t.equal(await ask(signature), 'done')
})

async function post(stage: Stage, number: bigint, through: bigint, who = OPERATOR): Promise<string> {
  const roots = [3, toHex(1n, { size: 32 }), 4, toHex(2n, { size: 32 })]
  return text((await stage.ground.act(who, stage.vault, 'postBatch', [number, through, ...roots])).error)
}

t.test('batches follow each other, are told, and stand as they were posted', async (t) => {
  const stage = await newStage()
  const { ground, vault } = stage
  const [trades, balances]: Hex[] = [toHex(11n, { size: 32 }), toHex(22n, { size: 32 })]
  const args = [1n, 500n, 3, trades, 4, balances]
  t.strictSame(told(await ground.act(OPERATOR, vault, 'postBatch', args), vault), [['BatchPosted', {
    number: 1n, through: 500n, trades: 3, tradesRoot: trades, balances: 4, balancesRoot: balances,
  }]])
  const batch = [500n, 3, trades, 4, balances, ground.time]
  t.strictSame(await ground.read(vault, 'batches', [1n]), batch)
  t.equal(await post(stage, 1n, 600n), 'BatchOutOfOrder(2)', 'again')
  t.equal(await post(stage, 3n, 600n), 'BatchOutOfOrder(2)', 'a gap')
  t.equal(await post(stage, 0n, 600n), 'BatchOutOfOrder(2)')
  t.equal(await post(stage, 2n, 500n), 'ThroughNotRising(500)')
  t.equal(await post(stage, 2n, 499n), 'ThroughNotRising(500)')
  for (const who of [OWNER, STRANGER]) t.equal(await post(stage, 2n, 501n, who), 'Forbidden()')
  await done(ground.act(OWNER, vault, 'pause'))
  t.equal(await post(stage, 2n, 501n), 'done', 'paused too: it moves no money')
  t.equal(await ground.read(vault, 'lastBatch'), 2n)
  t.strictSame(await ground.read(vault, 'batches', [1n]), batch, 'the one before is as it was')
  t.strictSame(await ground.read(vault, 'batches', [3n]), [0n, 0, toHex(0n, { size: 32 }), 0, toHex(0n, { size: 32 }), 0n])
  t.equal(await post(stage, 3n, 2n ** 64n - 1n), 'done')
  t.equal(await post(await newStage(), 1n, 0n), 'ThroughNotRising(0)', 'the first one rises above 0')
})

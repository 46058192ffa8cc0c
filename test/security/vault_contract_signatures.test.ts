/**
 * Promise: an authorisation is worth what was signed, once, on one chain, at one vault, until its deadline and while its operator is in
 * office; whoever sees it can do nothing with it but pay its destination.
 */
import t from 'tap'
import { encodePacked, hexToBigInt, keccak256, parseSignature, recoverAddress, serializeSignature, toHex, type Hex } from 'viem'
import { withdrawalDigest } from '../../gateway/chain/vault/typed_data.ts'
import type { Authorisation } from '../../gateway/chain/vault/types.ts'
import {
  ALICE, authorisation, authorise, balanceOf, BOB, deposit, done, MAX, newStage, OPERATOR, OWNER, STRANGER, told, withdrawal, type Stage,
} from '../support/vault_ground.ts'

t.setTimeout(180_000)

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

async function send(stage: Stage, message: Authorisation, signature: Hex, from = STRANGER): Promise<string> {
  const { error } = await stage.ground.act(from, stage.vault, 'withdraw', withdrawal(message, signature))
  return error ?? 'paid'
}

async function funded(chainId?: number, salt?: bigint): Promise<Stage> {
  const stage = await newStage(chainId, salt)
  await done(deposit(stage, 10_000n))
  return stage
}

t.test('the other signature of the same content, with the higher s, is none', async (t) => {
  const stage = await funded()
  for (let nonce = 0n; nonce < 8n; nonce++) {
    const message = authorisation(stage, { nonce })
    const signature = await authorise(stage, message)
    const { r, s, yParity } = parseSignature(signature)
    const higher = toHex(ORDER - hexToBigInt(s), { size: 32 })
    const twin = serializeSignature({ r, s: higher, yParity: 1 - yParity })
    const digest = withdrawalDigest({ chainId: 1328, vault: stage.vault.address, factory: stage.factory.address }, message)
    t.equal(await recoverAddress({ hash: digest, signature: twin }), OPERATOR.address, 'though it leads to the operator')
    t.equal(await send(stage, message, twin), 'BadSignature()')
    t.equal(await send(stage, message, signature), 'paid')
    t.equal(await send(stage, message, twin), 'BadSignature()', 'before the nonce is looked at')
  }
})

t.test('nothing can be changed in it', async (t) => {
  const stage = await funded()
  const message = authorisation(stage)
  const signature = await authorise(stage, message)
  for (const change of [
    { amount: 101n }, { amount: 99n }, { destination: STRANGER.address }, { nonce: 8n }, { nonce: 7n + 2n ** 255n },
    { deadline: message.deadline + 1n }, { deadline: MAX },
  ]) t.equal(await send(stage, { ...message, ...change }, signature), 'BadSignature()', Object.keys(change)[0])
  const other = await stage.ground.create('TestToken')
  await done(stage.ground.act(OWNER, stage.vault, 'setToken', [other.address, true, MAX]))
  t.equal(await send(stage, { ...message, token: other.address }, signature), 'BadSignature()', 'token')
  for (let at = 2; at < signature.length - 2; at += 8) {
    const digit = (Number.parseInt(signature[at]!, 16) ^ 1).toString(16)
    t.equal(await send(stage, message, `${signature.slice(0, at)}${digit}${signature.slice(at + 1)}` as Hex), 'BadSignature()')
  }
  t.equal(await send(stage, message, signature), 'paid')
})

t.test('it is for one vault of one chain', async (t) => {
  const [here, abroad] = [await funded(1328), await funded(1)]
  t.equal(here.vault.address, abroad.vault.address, 'the same vault on two chains')
  const message = authorisation(here)
  const signature = await authorise(here, message)
  t.equal(await send(abroad, message, signature), 'BadSignature()')
  const second = await here.ground.create('Vault', [OWNER.address, OPERATOR.address])
  await done(here.ground.act(OWNER, second, 'setToken', [here.token.address, true, MAX]))
  await done(here.ground.act(ALICE, here.token, 'approve', [second.address, MAX]))
  await done(here.ground.act(ALICE, second, 'deposit', [here.token.address, 500n, ALICE.address, `0x${'00'.repeat(16)}`]))
  t.equal(await send({ ...here, vault: second }, message, signature), 'BadSignature()', 'another vault with the same operator')
  t.equal(await send(here, message, signature), 'paid')
  t.equal(await send({ ...here, vault: second }, message, signature), 'BadSignature()')
})

t.test('it pays once, and late not at all', async (t) => {
  const stage = await funded()
  const message = authorisation(stage)
  const signature = await authorise(stage, message)
  t.equal(await send(stage, message, signature), 'paid')
  for (const who of [ALICE, OPERATOR, OWNER, STRANGER]) t.equal(await send(stage, message, signature, who), 'NonceUsed(7)')
  const late = authorisation(stage, { nonce: 8n })
  const signed = await authorise(stage, late)
  stage.ground.time = late.deadline + 1n
  t.equal(await send(stage, late, signed), `Expired(${late.deadline})`)
  t.equal(await stage.ground.read(stage.vault, 'isNonceUsed', [8n]), false)
  stage.ground.time += 86_400n * 365n
  t.equal(await send(stage, late, signed), `Expired(${late.deadline})`)
  t.equal(await balanceOf(stage.ground, stage.token, stage.vault.address), 9_900n)
})

t.test('whoever sees it first can only pay its destination', async (t) => {
  const stage = await funded()
  const { ground, vault, token } = stage
  const message = authorisation(stage, { destination: BOB.address })
  const signature = await authorise(stage, message)
  const first = await ground.act(STRANGER, vault, 'withdraw', withdrawal(message, signature))
  t.strictSame(told(first, vault), [['Withdrawal', { nonce: 7n, token: token.address, destination: BOB.address, amount: 100n }]])
  t.equal(await send(stage, message, signature, BOB), 'NonceUsed(7)', 'whom it was for comes second, and has it')
  t.equal(await balanceOf(ground, token, BOB.address), 1_000_100n)
  t.equal(await balanceOf(ground, token, STRANGER.address), 0n)
})

t.test('nobody else can sign', async (t) => {
  const stage = await funded()
  const message = authorisation(stage)
  for (const who of [OWNER, ALICE, STRANGER]) t.equal(await send(stage, message, await authorise(stage, message, who)), 'BadSignature()')
  // The operator's signature of the struct alone, of the bare digest as a message, and of the same fields packed.
  const digest = withdrawalDigest({ chainId: 1328, vault: stage.vault.address, factory: stage.factory.address }, message)
  t.equal(await send(stage, message, await OPERATOR.signMessage({ message: { raw: digest } })), 'BadSignature()')
  const packed = keccak256(encodePacked(['address', 'uint256', 'address', 'uint256', 'uint256'],
    [message.token, message.amount, message.destination, message.nonce, message.deadline]))
  t.equal(await send(stage, message, await OPERATOR.sign({ hash: packed })), 'BadSignature()')
  t.equal(await send(stage, message, await OPERATOR.sign({ hash: digest })), 'paid', 'the digest itself is what is signed')
})

t.test('after a rotation the old operator has signed nothing', async (t) => {
  const stage = await funded()
  const { ground, vault } = stage
  const ask = async (nonce: bigint, by: typeof OPERATOR): Promise<string> => {
    const message = authorisation(stage, { nonce })
    return send(stage, message, await authorise(stage, message, by))
  }
  await done(ground.act(OWNER, vault, 'proposeOperator', [BOB.address]))
  t.equal(await ask(1n, BOB), 'BadSignature()', 'proposed is not in office')
  t.equal(await ask(1n, OPERATOR), 'paid')
  const kept = authorisation(stage, { nonce: 2n, deadline: MAX })
  const signed = await authorise(stage, kept)
  await done(ground.act(BOB, vault, 'acceptOperator'))
  t.equal(await send(stage, kept, signed), 'BadSignature()', 'signed while it was in office')
  t.equal(await ask(3n, OPERATOR), 'BadSignature()')
  t.equal(await ask(2n, BOB), 'paid', 'the new one signs the same nonce anew')
  for (const [name, args] of [['pause', []], ['postBatch', [1n, 1n, 0, toHex(0, { size: 32 }), 0, toHex(0, { size: 32 })]]] as const) {
    t.equal((await ground.act(OPERATOR, vault, name, args)).error, 'Forbidden()', name)
  }
  await done(ground.act(OWNER, vault, 'proposeOperator', [OPERATOR.address]))
  await done(ground.act(OPERATOR, vault, 'acceptOperator'))
  t.equal(await send(stage, kept, signed), 'NonceUsed(2)', 'back in office, and the nonce is used')
})

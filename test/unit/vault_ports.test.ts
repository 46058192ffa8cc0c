/**
 * Promise: what the vault thread, the operator thread and gateways say to each other over ports: commands in order or not at all, nothing
 * is decided behind a command without an answer, and who was asked may end at any time.
 */
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { WithdrawalStop } from '../../core/layout/vault.ts'
import { PortCommands } from '../../gateway/chain/vault/commands.ts'
import { VaultClient } from '../../gateway/chain/vault/gateway_client.ts'
import {
  BATCH_MAX, type Calldata, type CalldataAsk, type FromVault, type Unavailable, type VaultReport,
} from '../../gateway/chain/vault/messages.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Sent } from '../../gateway/operator/admin.ts'
import { createVaultDesk } from '../../gateway/operator/vault_desk.ts'

const { ADVANCE_WITHDRAWAL, ADVANCE_CHAIN, CREDIT_DEPOSIT, STOP_WITHDRAWALS, SET_MAINTENANCE } = CommandType
const DONE: Decoded = { code: 0 }

/** Both sides of the port, over an operator thread that answers as `answers` says, and what it sent. */
function desk(t: Test, answers: (type: number, values: Decoded) => Sent = () => DONE) {
  const sent: { type: number; values: Decoded }[] = []
  const vault = createVaultDesk({
    sendAll: async (type, _layout, all) => all.map((values) => {
      sent.push({ type, values })
      return answers(type, values)
    }),
  })
  const commands = new PortCommands()
  const connect = (): void => {
    const { port1, port2 } = new MessageChannel()
    vault.take(port1)
    commands.take(port2)
  }
  connect()
  t.teardown(() => {
    commands.close()
    vault.stop()
  })
  return { sent, vault, commands, connect }
}

t.test('commands come back with their answers, in order', async (t) => {
  const { commands, sent } = desk(t, (_, values) => ({ code: Number(values['block']) }))
  const all = Array.from({ length: BATCH_MAX }, (_, block) => ({ block }))
  t.same(await commands.sendAll(CREDIT_DEPOSIT, all), all.map(({ block }) => ({ code: block })))
  t.same(sent.map(({ values }) => values), all)
  t.same(await commands.send(CREDIT_DEPOSIT, { block: 7 }), { code: 7 })
  await t.rejects(commands.sendAll(CREDIT_DEPOSIT, [...all, { block: 9 }]), RangeError)
  t.same(await commands.sendAll(CREDIT_DEPOSIT, []), [])
})

t.test('what is the operator\'s own, or nobody\'s, is not sent', async (t) => {
  const { commands, sent } = desk(t)
  for (const [type, values] of [
    [SET_MAINTENANCE, { on: 1 }], [ADVANCE_CHAIN, { rewind: 1 }], [STOP_WITHDRAWALS, { cause: WithdrawalStop.NONE }],
    [STOP_WITHDRAWALS, { cause: WithdrawalStop.OPERATOR }], [250, {}],
  ] as const) t.equal(await commands.send(type, values), 'full', `${type}`)
  t.same(sent, [])
  t.same(await commands.send(STOP_WITHDRAWALS, { cause: WithdrawalStop.SOLVENCY }), DONE)
  t.same(await commands.send(ADVANCE_CHAIN, { block: 1 }), DONE)
})

t.test('at the start and behind a late one nothing is certain until a later command is answered', async (t) => {
  let late = false
  const { commands, sent } = desk(t, () => (late ? 'late' : DONE))
  t.equal(await commands.certain(), true)
  t.match(sent, [{ type: ADVANCE_WITHDRAWAL, values: { withdrawalSequence: 0 } }], 'one that changes nothing')
  t.equal(await commands.certain(), true)
  t.equal(sent.length, 1, 'no doubt, no command')
  late = true
  t.equal(await commands.send(CREDIT_DEPOSIT, { block: 1 }), 'late')
  t.equal(await commands.certain(), false)
  t.equal(await commands.certain(), false)
  late = false
  t.equal(await commands.certain(), true)
  t.equal(sent.length, 5)
})

t.test('without an operator thread nothing is sent; what was under way may be applied', async (t) => {
  const { commands, vault, connect } = desk(t)
  vault.stop()
  await new Promise((resolve) => setImmediate(resolve))
  const outcome = await commands.send(CREDIT_DEPOSIT, { block: 1 })
  t.match(outcome, /^(gone|late)$/)
  t.equal(await commands.certain(), false)
  connect()
  t.equal(await commands.certain(), true)
})

t.test('the last report is kept', async (t) => {
  const { commands, vault } = desk(t)
  t.equal(vault.report, null)
  commands.report({ at: 5 } as VaultReport)
  await commands.send(CREDIT_DEPOSIT, {})
  t.match(vault.report, { at: 5 })
})

/** A gateway's side, over a vault thread that answers as `answer` says. */
function client(t: Test) {
  const vault = new VaultClient(new Faults(() => undefined))
  t.teardown(() => vault.close())
  const connect = (answer: (ask: CalldataAsk) => FromVault | null) => {
    const { port1, port2 } = new MessageChannel()
    port1.on('message', (ask: CalldataAsk) => {
      const reply = answer(ask)
      if (reply !== null) port1.postMessage(reply)
    })
    vault.take(port2)
    return port1
  }
  const ask = (sequence: number): Promise<Calldata | Unavailable> => new Promise((resolve) => vault.calldata(3, sequence, resolve))
  return { vault, connect, ask }
}

t.test('calldata for a gateway: an answer each, whoever ends', async (t) => {
  const { vault, connect, ask } = client(t)
  t.equal(await ask(1), 'SIGNER', 'no vault thread yet')
  const calldata = { chainId: 1, to: '0x', data: '0x', value: '0', nonce: '7', expiresAt: 5 }
  const first = connect(({ id, sequence }) => (sequence === 7 ? { id, calldata } : { id, unavailable: 'NOT_SIGNED' }))
  t.same(await ask(7), calldata)
  t.equal(await ask(8), 'NOT_SIGNED')
  first.close()
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(await ask(7), 'SIGNER')
  const silent = connect(() => null)
  const waiting = Array.from({ length: 256 }, () => ask(7))
  t.equal(await ask(7), 'BUSY')
  connect(() => null)
  t.same(new Set(await Promise.all(waiting)), new Set(['SIGNER']), 'all of them when another thread comes')
  silent.close()
  t.equal(vault.connected, false)
})

t.test('places stay known while the vault thread is away', async (t) => {
  const { vault, connect } = client(t)
  const places = { chainId: 1, vault: '0x01', factory: '0x02' } as const
  const port = connect(() => null)
  port.postMessage({ type: 'places', places, connected: true } satisfies FromVault)
  while (!vault.connected) await new Promise((resolve) => setImmediate(resolve))
  t.same(vault.places, places)
  port.postMessage({ type: 'places', places: null, connected: true } satisfies FromVault)
  const closed = once(port, 'close')
  port.close()
  await closed
  while (vault.connected) await new Promise((resolve) => setImmediate(resolve))
  t.same(vault.places, places)
})

/**
 * Promise: when a session was revoked and its key opened again, the first message of the old stream is refused, before any sweep looks at
 * the stream. A message says by its key and generation whose it is, and never by its key alone.
 */
import t from 'tap'
import { CommandType, COMMAND_LAYOUTS, COMMAND_SLOTS, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { createSessionCache, findSession, type FoundSession } from '../../gateway/auth/session_cache.ts'
import { setCaller, type Caller } from '../../gateway/auth/signed_request.ts'
import type { Refused } from '../../gateway/refused.ts'
import { SignatureShares } from '../../gateway/stream/signature_shares.ts'
import { SignedStream, type MessageCall, type SignedMessage } from '../../gateway/stream/signed_stream.ts'
import { createBench } from '../support/naive_compare.ts'
import { decodeEvent } from '../support/naive_events.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const KEY = 'ab'.repeat(32)
const TIME = 1_767_225_605_000
const bench = createBench(genesisText(VARIANTS['market']!))

function send(type: CommandType, values: Decoded): Decoded {
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, 1) })
  const count = bench.run(command, 0, TIME)
  return decodeEvent(bench.said, (count - 1) * RECORD_WORDS)
}

const gate = new Int32Array(new SharedArrayBuffer(64))
const sessions = createSessionCache(bench.state, gate, () => TIME)
/** Nothing is ever swept: only what a message finds out itself counts. */
const watch = { add: () => undefined, remove: () => undefined }
const gateway = { sessions, watch, state: bench.state, time: () => TIME, now: () => TIME, counters: [], replayGuard: { take: () => 'new' } }

/** A message as a call, and what became of it. */
class Message implements Partial<MessageCall> {
  readonly said: string[] = []
  over = false
  answer(): void {
    this.said.push('answered')
    this.over = true
  }
  drop({ code }: Refused): void {
    this.said.push(code)
    this.over = true
  }
}

const messageOf = (counter: number): SignedMessage => ({ bytes: 100, signed: null, counter, opens: false })

t.test('the first message after the key was opened again is refused, and the stream ends', async (t) => {
  const opened = send(CommandType.OPEN_SESSION, { address: '5a'.repeat(20), publicKey: KEY })
  const found = findSession(sessions, KEY) as FoundSession
  const ended: string[] = []
  const connection = {
    charge: () => true, broken: (why: string) => void ended.push(why), sessionOver: () => void ended.push('over'), adopt: () => found,
  }
  const stream = new SignedStream(gateway as never, connection, new SignatureShares(() => undefined), 'somewhere')
  const call = new Message()
  setCaller(call as unknown as Caller, found.view)
  const signed = { publicKey: KEY, timestamp: String(TIME), signature: 'cd'.repeat(64) }
  stream.openSession({ bytes: 100, signed: signed as never, counter: 1, opens: true }, 1, -1, call as never)
  t.same(call.said, ['answered'])
  const first = new Message()
  t.equal(stream.identify(messageOf(2), first as never), 'known')

  send(CommandType.REVOKE_SESSION, { session: opened['detail']!, sessionGeneration: opened['detail2']! })
  t.equal(send(CommandType.OPEN_SESSION, { address: '5a'.repeat(20), publicKey: KEY })['code'], 0)
  const again = findSession(sessions, KEY) as FoundSession
  t.ok(again.view.expiresAt > TIME, 'the key has a session')
  t.equal(again.view.session, found.view.session, 'in the same row')
  t.not(again.view.generation, found.view.generation)
  const late = new Message()
  t.equal(stream.identify(messageOf(3), late as never), 'over')
  t.same([late.said, ended], [['SESSION_INVALID'], ['over']])
})

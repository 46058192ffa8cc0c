/**
 * Promise: the Python client does what its own tests say (streams, books, orders, retries against services that
 * misbehave), and sends for every operation what the TypeScript client sends, with the same signatures.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { createSigner, signMessage, signRequest } from '../../gateway/client/index.ts'
import { wireRequest } from '../../gateway/client/request.ts'
import { OPERATIONS, type OperationName } from '../../gateway/client/operations.ts'
import { lacksPython } from '../suite/packages.ts'
import { findPython } from '../support/python.ts'

const folder = join(import.meta.dirname, '..', '..', 'gateway', 'client', 'python')
const found = findPython('websockets, nacl')
const skip = 'reason' in found ? lacksPython('websockets, nacl', found.reason) : false
if (skip !== false) t.comment(skip)

const python = (words: readonly string[], input = ''): { status: number | null; stdout: string; stderr: string } => {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: join(folder, 'src') }
  return spawnSync((found as { python: string }).python, words, { cwd: folder, encoding: 'utf8', input, env, timeout: 500_000 })
}

t.test('its own tests pass', { skip }, async (t) => {
  const { status, stderr } = python(['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests'])
  t.equal(status, 0, stderr.slice(-4000))
  t.match(stderr, /^Ran \d\d+ tests/m)
})

/** Reads requests to make from its input, and tells what it would send. */
const PROGRAM = `
import json, sys
from ringbook import SessionKey, sign_message, sign_request
from ringbook._generated.table import OPERATIONS
from ringbook.wire import target_and_body
given = json.load(sys.stdin)
key = SessionKey(bytes.fromhex(given["seed"]))
for name, fields in given["calls"]:
    operation = OPERATIONS[name]
    target, body = target_and_body("", operation, fields)
    signed = [sign(key, operation.method, target, body, given["time"]) for sign in (sign_request, sign_message)]
    print(json.dumps([target, body.decode(), *signed]))
`

t.test('it sends what the TypeScript client sends', { skip }, async (t) => {
  const names = Object.keys(OPERATIONS) as OperationName[]
  const texts = {
    orderId: 'a b', tradingPairId: 'ä/ö?', assetId: '1', subAccountId: "o'x", tradeId: '~-_.', agentId: '%41',
    marginAccountId: 'm+a', riskBucketId: 'r#b', positionId: 'p&q=', conditionalOrderId: 'c d', twapOrderId: 't/w', launchId: 'l/m',
    followId: 'f?g', leader: 'x,y', withdrawalId: 'w"d',
  }
  const more = { page: 2, isActive: true, status: ['SUBMITTED', 'FILLED'], clientOrderId: 'q&=+ "é', nothing: null }
  const nested = (name: OperationName): object => (OPERATIONS[name].body ? { orders: [{ price: '1.10' }] } : {})
  const calls = names.flatMap((name) => [[name, texts], [name, { ...texts, ...more, ...nested(name) }]] as const)
  const [seed, time] = ['07'.repeat(32), 1_763_000_000_123]
  const { stdout, stderr, status } = python(['-c', PROGRAM], JSON.stringify({ seed, time, calls }))
  t.equal(status, 0, stderr)
  const told = stdout.trim().split('\n').map((line) => JSON.parse(line) as unknown[])
  t.equal(told.length, calls.length)
  const signer = createSigner(Buffer.from(seed, 'hex'))
  for (const [index, [name, fields]] of calls.entries()) {
    const [target, text, legacy, message] = told[index]! as [string, string, object, object]
    const { target: path, body } = wireRequest('http://x', OPERATIONS[name], fields)
    // Both are signed as they are sent; the two differ in what they escape, which means the same.
    t.equal(decodeURIComponent(target), decodeURIComponent(path), name)
    t.strictSame(text === '' ? null : JSON.parse(text), body.length === 0 ? null : JSON.parse(new TextDecoder().decode(body)), name)
    const bytes = new TextEncoder().encode(text)
    t.strictSame(legacy, signRequest(signer, OPERATIONS[name].method, target, bytes, time), name)
    t.strictSame(message, signMessage(signer, OPERATIONS[name].method, target, bytes, time), name)
  }
})

/**
 * A node that misbehaves on demand: JSON-RPC over HTTP on loopback, answering rightly, wrongly, late or not at all. Every request is
 * counted, so that a test can say that the chain was not asked.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What goes wrong; `good` is nothing. The chain itself knows one contract at every address, which accepts everything. */
export const FAULTS = [
  'wrong chain', 'no chain id', 'silent', 'drip', 'status 500', 'status 429', 'redirect', 'truncated', 'cut off', 'no JSON', 'array',
  'wrong id', 'no id', 'no version', 'huge', 'neither', 'both', 'null result', 'odd data', 'node error', 'timeout error', 'limit error',
] as const
export type Fault = (typeof FAULTS)[number]

/** An answer of an accepting contract. */
export const ACCEPTED = `0x1626ba7e${'00'.repeat(28)}`

export interface RpcStub {
  readonly url: string
  /** Methods that were asked for, in order. */
  readonly asked: string[]
  fault: Fault | 'good'
  /** What `eth_call` gives: a result, or an error. */
  said: { result: unknown } | { error: { code: number; message: string } }
  code: string
  /** Holds answers back until {@link release}; `held` is how many wait. */
  holding: boolean
  readonly held: number
  release(): void
  close(): Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
}

export async function startRpcStub(): Promise<RpcStub> {
  const waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Call
      stub.asked.push(call.method)
      const answer = (): void => reply(stub, call, response)
      if (stub.holding) waiting.push(answer)
      else answer()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stub: RpcStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`,
    asked: [],
    fault: 'good',
    said: { result: ACCEPTED },
    code: '0x6000',
    holding: false,
    get held() {
      return waiting.length
    },
    release() {
      stub.holding = false
      for (const answer of waiting.splice(0)) answer()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}

/** What a right node would say. */
function rightly(stub: RpcStub, { id, method }: Call): Record<string, unknown> {
  const said = method === 'eth_chainId' ? { result: '0x530' } : method === 'eth_getCode' ? { result: stub.code } : stub.said
  return { jsonrpc: '2.0', id, ...said }
}

/** Changes to a right reply. */
const WRONGLY: Partial<Record<Fault, (reply: Record<string, unknown>, call: Call) => unknown>> = {
  'wrong chain': (reply, { method }) => (method === 'eth_chainId' ? { ...reply, result: '0x1' } : reply),
  'no chain id': (reply, { method }) => (method === 'eth_chainId' ? { ...reply, result: 1328 } : reply),
  'array': (reply) => [reply],
  'wrong id': (reply, { id }) => ({ ...reply, id: id + 1 }),
  'no id': ({ id: _, ...reply }) => reply,
  'no version': ({ jsonrpc: _, ...reply }) => reply,
  'neither': ({ jsonrpc, id }) => ({ jsonrpc, id }),
  'both': (reply) => ({ ...reply, error: { code: 3, message: 'execution reverted' } }),
  'null result': (reply) => ({ ...reply, result: null }),
  'odd data': (reply) => ({ ...reply, result: '0x162' }),
  'node error': ({ jsonrpc, id }) => ({ jsonrpc, id, error: { code: -32603, message: 'internal error' } }),
  'timeout error': ({ jsonrpc, id }) => ({ jsonrpc, id, error: { code: -32000, message: 'execution aborted (timeout = 5s)' } }),
  'limit error': ({ jsonrpc, id }) => ({ jsonrpc, id, error: { code: -32005, message: 'daily request count exceeded' } }),
}

function reply(stub: RpcStub, call: Call, response: ServerResponse): void {
  const right = rightly(stub, call)
  const json = { 'Content-Type': 'application/json' }
  const { fault } = stub
  if (fault === 'silent') return
  if (fault === 'status 500' || fault === 'status 429') {
    return void response.writeHead(Number(fault.slice(7)), json).end(JSON.stringify(right))
  }
  if (fault === 'redirect') return void response.writeHead(307, { Location: `${stub.url}/elsewhere` }).end()
  if (fault === 'no JSON') return void response.writeHead(200, json).end('<html>')
  if (fault === 'truncated') return void response.writeHead(200, json).end(JSON.stringify(right).slice(0, -2))
  if (fault === 'cut off') {
    response.writeHead(200, { ...json, 'Content-Length': 1000 })
    return void response.write('{"jsonrpc"', () => response.destroy())
  }
  if (fault === 'huge') return void response.writeHead(200, json).end(JSON.stringify({ ...right, result: `0x${'00'.repeat(2 << 20)}` }))
  if (fault === 'drip') return drip(response)
  const wrong = fault === 'good' ? undefined : WRONGLY[fault]
  response.writeHead(200, json).end(JSON.stringify(wrong === undefined ? right : wrong(right, call)))
}

/** A byte now and then, until the other side has had enough. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 5)
  response.on('close', () => clearInterval(timer))
}

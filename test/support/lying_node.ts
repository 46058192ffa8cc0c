/**
 * A node between a client and the chain behind a URL that says something else than the chain, is late, or is gone: whatever a test wants.
 * It answers rightly as long as {@link LyingNode.change} is `null`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface NodeCall {
  readonly method: string
  readonly params: readonly any[]
}
/** JSON-RPC reply without its frame. */
export type NodeReply = { result: any } | { error: { code: number; message: string; data?: unknown } }
/** What it says instead of the right reply; `null`: nothing, `cut`: the connection is closed. `right` asks the chain. */
export type Change = (call: NodeCall, right: () => Promise<NodeReply>) => Promise<NodeReply | null | 'cut'> | NodeReply | null | 'cut'

export interface LyingNode {
  readonly url: string
  /** Calls that came, in order. */
  readonly calls: NodeCall[]
  change: Change | null
}

/** It ends with the test. */
export async function startLyingNode(t: Test, chain: string): Promise<LyingNode> {
  const ask = async ({ method, params }: NodeCall): Promise<NodeReply> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(chain, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    return (await response.json()) as NodeReply
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString('utf8')) as NodeCall & { id: number }
      const call = { method, params }
      node.calls.push(call)
      const answer = async (): Promise<void> => {
        const said = node.change === null ? await ask(call) : await node.change(call, () => ask(call))
        if (said === 'cut') return void response.destroy()
        if (said === null) return
        const { result, error } = said as { result?: unknown; error?: unknown }
        const reply = error === undefined ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error }
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply))
      }
      answer().catch(() => response.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const node: LyingNode = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`, calls: [], change: null }
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return node
}

/**
 * `fetch` whose connections come from a given address of the loopback network (127.0.0.0/8), so that tests can be several clients on one
 * machine. Connections are kept, as browsers and the typed client do.
 */
import { Agent, request } from 'node:http'

/** A fetch from `localAddress` over at most `sockets` connections; `close` ends them. */
export function fetchFrom(localAddress: string, sockets = 16): { fetch: typeof globalThis.fetch; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets, localAddress })
  const one = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string> = {}
      new Headers(init.headers).forEach((value, name) => (headers[name] = value))
      const { method = 'GET', signal } = init
      const sent = request(String(input), { agent, method, headers, ...(signal == null ? {} : { signal }) }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const { statusCode: status = 0, headers: from } = answer
          const fields = Object.entries(from).map(([name, value]): [string, string] => [name, String(value)])
          resolve(new Response(status === 204 ? null : Buffer.concat(parts), { status, headers: fields }))
        })
      })
      sent.on('error', reject)
      sent.end(init.body === undefined || init.body === null ? undefined : (init.body as string | Uint8Array))
    })
  return { fetch: one as typeof globalThis.fetch, close: () => agent.destroy() }
}

/** Connections of the ports that node:http serves: operator and chain. */
import type { Server, ServerOptions } from 'node:http'
import type { ConnectionPort } from './port.ts'

/** How often the library looks for connections that are late, ms; its default is half a minute. */
const LOOK_MS = 1_000

/** Options of a server whose requests, head and body, have to be whole in this time. */
export const timeLimits = (milliseconds: number): ServerOptions =>
  ({ requestTimeout: milliseconds, headersTimeout: milliseconds, connectionsCheckingInterval: LOOK_MS })

/** Lets `server` take the connections that `port` admits. */
export function admitTo(server: Server, port: ConnectionPort): void {
  server.prependListener('connection', (socket) => void port.admit(socket))
  server.prependListener('request', ({ socket }) => port.asked(socket))
}

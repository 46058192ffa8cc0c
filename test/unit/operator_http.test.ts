/**
 * Promise: a request to the operator's port is always answered: one whose handler throws, before or after its body was read, gets
 * INTERNAL, and the reason is told. A client that left gets nothing, and nobody is told.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { json, readFields, respond, type Answer } from '../../gateway/operator/http.ts'

const told: string[] = []
let route: (request: IncomingMessage) => Promise<Answer>
let responding = Promise.resolve()
const server = createServer((request, response) => {
  responding = respond(request, response, (asked) => route(asked), (error) => told.push((error as Error).message))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
t.teardown(() => server.close())

const post = (body: string): Promise<Response> => fetch(`http://127.0.0.1:${port}/`, {
  method: 'POST', body, headers: { 'content-type': 'application/json' }, signal: AbortSignal.timeout(10_000),
})

t.test('a handler that throws is answered INTERNAL', async (t) => {
  for (const reads of [false, true]) {
    route = async (request) => {
      if (reads) await readFields(request)
      throw new Error(`reads: ${reads}`)
    }
    const answer = await post('{"a":1}')
    t.equal(answer.status, 500)
    t.match(await answer.json(), { code: 'INTERNAL' })
    t.equal(told.pop(), `reads: ${reads}`)
  }
  route = async (request) => json(200, await readFields(request))
  t.same(await (await post('{"a":1}')).json(), { fields: { a: 1 } }, 'and the next one is served')
})

t.test('who left is not answered', async (t) => {
  route = async (request) => json(200, await readFields(request))
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\nhalf')
  await once(server, 'request')
  socket.destroy()
  await responding
  t.same(told, [])
})

/** What comes with gRPC: health for load balancers, server reflection for tools, TLS when it is configured. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, Metadata, status, type Client } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { protoPath, service as healthService } from 'grpc-health-check'
import descriptor from 'protobufjs/ext/descriptor/index.js'
import t from 'tap'
import { MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { TABLE } from '../../gateway/operations/index.ts'
import { certificateFiles } from '../support/certificates.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'

const { FileDescriptorProto } = descriptor
const SERVICES = [...new Set(Object.values(TABLE).map((row) => `svc.v1.${row.service}`))].sort()

/** Status of a service as a load balancer reads it; a status name when the call fails. */
function healthOf(client: Client, service: string): Promise<string> {
  const { path, requestSerialize, responseDeserialize } = healthService['Check']!
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service }, (error, answer) =>
      resolve(error === null ? String((answer as { status: string }).status) : status[error.code]!),
    )
  })
}

t.test('health says whether the matcher works, for every service', async (t) => {
  const harness = await startHarness(['--grpc-thread', '1'])
  const { client, close } = connectGrpc(harness.grpcPort)
  t.teardown(async () => {
    close()
    await harness.close()
  })
  t.ok(protoPath.endsWith('health.proto'))
  // A look between two heartbeats of this test may see one of the matcher; so until one pass over all services is of one mind.
  const becomes = async (wanted: string): Promise<void> => {
    const names = ['', ...SERVICES]
    let others = names
    for (let i = 0; i < 500 && others.length > 0; i++) {
      if (i > 0) await new Promise((resolve) => setTimeout(resolve, 20))
      const told = await Promise.all(names.map((service) => healthOf(client, service)))
      others = names.filter((_, at) => told[at] !== wanted)
    }
    t.same(others, [], `every service becomes ${wanted}`)
  }
  await becomes('SERVING')
  t.equal(await healthOf(client, 'svc.v1.NoSuchService'), 'NOT_FOUND')

  const { path, requestSerialize, responseDeserialize } = healthService['Watch']!
  const watch = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service: '' })
  watch.on('error', () => undefined)
  const seen: string[] = []
  watch.on('data', (answer: { status: string }) => seen.push(answer.status))
  for (let i = 0; i < 500 && seen.length < 1; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  // The loopback matcher's heartbeat goes on; a heartbeat in the past that stays there is what a stuck matcher looks like.
  const counters = matcherCounters(harness.shared.counters)
  const stuck = setInterval(() => (counters[MATCHER.heartbeat_ms] = Date.now() - 60_000), 1)
  await becomes('NOT_SERVING')
  clearInterval(stuck)
  await becomes('SERVING')
  for (let i = 0; i < 500 && seen.length < 3; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.same(seen.slice(0, 3), ['SERVING', 'NOT_SERVING', 'SERVING'], 'a watcher hears of it')
  watch.cancel()
})

/** Asks server reflection of this version one thing. */
function reflect(client: Client, version: string, question: object): Promise<any> {
  const proto = join(import.meta.dirname, '..', '..', 'node_modules', '@grpc', 'reflection', 'build', 'proto')
  const definition = loadSync(`grpc/reflection/${version}/reflection.proto`, { includeDirs: [proto], keepCase: true })
  const service = definition[`grpc.reflection.${version}.ServerReflection`] as Record<string, any>
  const { path, requestSerialize, responseDeserialize } = service['ServerReflectionInfo']
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new Metadata())
  return new Promise((resolve, reject) => {
    call.on('data', (answer) => {
      resolve(answer)
      call.end()
    })
    call.on('error', reject)
    call.write(question)
  })
}

t.test('reflection lists the services and describes their messages', async (t) => {
  const harness = await startHarness(['--grpc-thread', '1'])
  const { client, close } = connectGrpc(harness.grpcPort)
  t.teardown(async () => {
    close()
    await harness.close()
  })
  for (const version of ['v1', 'v1alpha']) {
    const { list_services_response: list } = await reflect(client, version, { list_services: '*' })
    t.same(list.service.map(({ name }: { name: string }) => name).sort(), ['grpc.health.v1.Health', ...SERVICES].sort(), version)
    const { file_descriptor_response: files } = await reflect(client, version, { file_containing_symbol: 'svc.v1.OrdersService' })
    const described = files.file_descriptor_proto.map((bytes: Buffer) => FileDescriptorProto.toObject(FileDescriptorProto.decode(bytes)))
    const named = (list: any[], name: string): any => list.find((each) => each.name === name)
    const own = described.find((file: { package: string }) => file.package === 'svc.v1')
    t.ok(named(named(own.service, 'OrdersService').method, 'StreamOrders').clientStreaming, 'methods')
    const { field, oneofDecl } = named(own.messageType, 'CreateOrderRequest')
    t.match(field[0], { name: 'trading_pair_id', number: 1 }, 'fields by the names of the files')
    t.equal(oneofDecl[named(field, 'price').oneofIndex].name, '_price', 'presence, as the oneof that optional stands for')
    t.ok(named(own.enumType, 'OrderType'), 'enumerations')
  }
  const { error_response: error } = await reflect(client, 'v1', { file_containing_symbol: 'svc.v1.NoSuch' })
  t.equal(error.error_code, status.NOT_FOUND)
})

t.test('with a certificate the port is TLS, and only that', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const { cert, key } = certificateFiles(directory)
  const harness = await startHarness(['--grpc-thread', '1', '--grpc-cert', cert, '--grpc-key', key])
  t.teardown(() => harness.close())
  const secure = connectGrpc(harness.grpcPort, {}, credentials.createSsl(readFileSync(cert)), 'localhost')
  t.equal((await secure.call('Check')).code, status.OK)
  const session = await harness.openSession()
  t.equal((await secure.call('GetProfile', {}, session)).code, status.OK)
  secure.close()
  const plain = connectGrpc(harness.grpcPort)
  t.equal((await plain.call('Check', {}, null, { deadline: Date.now() + 3000 })).code, status.UNAVAILABLE)
  plain.close()
})

t.test('a certificate that cannot be read stops the start', async (t) => {
  const flags = ['--grpc-thread', '1', '--grpc-cert', '/nowhere/cert', '--grpc-key', '/nowhere/key']
  await t.rejects(startHarness(flags), /gRPC: --grpc-cert: .*ENOENT/)
})

t.test('a port that is taken stops the start', async (t) => {
  const harness = await startHarness(['--grpc-thread', '1'])
  t.teardown(() => harness.close())
  await t.rejects(startHarness(['--grpc-thread', '1', '--grpc-port', String(harness.grpcPort)]), /gRPC: .*EADDRINUSE/)
})

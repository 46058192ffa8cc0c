/**
 * Promise: the connections of all ports together never need more files than the process may open, with enough left for the journal and
 * every thread; bounds that fit are left as they are. When files run out all the same, it is noticed before the last is gone, told once,
 * and ports rest a while before they listen again.
 */
import { createServer } from 'node:net'
import t from 'tap'
import { readConfig, type Config } from '../../core/config.ts'
import { BACK, descriptorLimit, fileWatch, fitDescriptors, keptFiles, openable, openDescriptors, SPARE } from '../../core/descriptors.ts'
import { doorOf, listenOn } from '../../gateway/limits/door.ts'

const configOf = (...flags: string[]): Config => readConfig(['--gateways', '2', ...flags], {})!
const needs = (config: Config): number => {
  const of = config as unknown as Record<string, number>
  return 2 * (of['wsConnections']! + (of['httpConnections'] ?? 0)) + of['grpcThread']! * of['grpcConnections']!
}

t.test('bounds that fit stay', async (t) => {
  const config = configOf()
  const { config: fits, wanted, fit } = fitDescriptors(config, 1_048_576)
  t.equal(fits, config)
  t.equal(wanted, needs(config))
  t.ok(fit > 1_048_576 - 1000)
})

t.test('others are lowered, each in proportion', async (t) => {
  for (const limit of [64, 256, 1024, 4096, 10_000]) {
    const { config, wanted, fit } = fitDescriptors(configOf(), limit)
    t.ok(wanted > fit && fit >= limit / 4 && fit < limit, `${limit}: ${fit} of ${wanted}`)
    if (limit >= 1024) t.ok(fit + keptFiles(configOf()) <= limit, 'with what everything else has')
    t.ok(needs(config) <= fit, `${needs(config)} connections fit ${limit} files`)
    t.ok(config.wsConnections >= 1 && config.grpcConnections >= 1)
  }
  const { config } = fitDescriptors(configOf(), 4096)
  t.ok(config.wsConnections > 5 * config.grpcConnections)
})

t.test('the sum has the ports without a knob, and all threads', async (t) => {
  const all = keptFiles(configOf())
  t.equal(all - keptFiles(configOf('--chain', '0')), 256 + 8 + 4, 'the chain: its connections, its thread, its file')
  t.equal(all - keptFiles(configOf('--grpc-thread', '0')), 8)
  t.equal(keptFiles(configOf('--history-readers', '3')) - all, 2 * (8 + 4))
  t.equal(keptFiles(configOf('--wallet-threads', '3')) - all, 2 * 8)
  t.equal(keptFiles(configOf('--contract-checks', '100')) - all, 100 - 32)
  const least = keptFiles(configOf('--chain', '0', '--grpc-thread', '0'))
  t.equal(least, 112 + 8 * 8 + 4 + 64 + 32, "the process, eight threads, a reader's file, the operator's connections, checks of contracts")
})

t.test('files that run out', async (t) => {
  let [free, now] = [1_000, 0]
  const told: number[] = []
  const look = fileWatch({ openable: (most) => Math.min(free, most), now: () => now, changed: (level) => told.push(level) })
  const at = (files: number, ms: number): number[] => {
    free = files
    now += ms
    look()
    return told.splice(0)
  }
  t.same(at(SPARE, 100), [], 'enough')
  t.same(at(SPARE - 1, 100), [1], 'before the last is gone')
  t.same(at(1, 100), [], 'once')
  t.same(at(0, 100), [2], 'none at all')
  t.same(at(1_000, 1_999), [], 'not at once')
  t.same(at(SPARE - 1, 100), [], 'nor with so few')
  t.same(at(BACK - 1, 100), [1])
  t.same(at(BACK - 1, 5_000), [], 'those that wait at the ports want some')
  t.same(at(BACK, 100), [0])
  t.same(at(0, 0), [2], 'that they are gone is never late')
  t.same(at(BACK, 2_000), [0])
  t.equal(openable(5), 5)
})

t.test('a door that closes, and opens on the port it had', async (t) => {
  const server = createServer()
  const port = await listenOn(server, '127.0.0.1', 0)
  const portOf = (): number | undefined => (server.address() as { port: number } | null)?.port
  const until = async (holds: () => boolean): Promise<void> => {
    for (let look = 0; look < 500 && !holds(); look++) await new Promise((resolve) => setTimeout(resolve, 10))
    t.ok(holds())
  }
  let failures = 0
  const door = doorOf(server, '127.0.0.1', port, () => failures++)
  door.want(false)
  t.equal(portOf(), undefined)
  door.want(true)
  await until(() => portOf() === port)
  door.want(false)
  const rival = createServer()
  t.equal(await listenOn(rival, '127.0.0.1', port), port, 'somebody else takes it meanwhile')
  door.want(true)
  await until(() => failures === 1)
  t.equal(door.isOpen, false)
  rival.close()
  await until(() => door.isOpen && portOf() === port)
  t.equal(failures, 1, 'which was said once')
  door.want(true)
  door.end()
  server.close()
})

const skip = process.platform === 'linux' ? false : 'the limits are read from /proc'

t.test('what this process may open, and has', { skip }, async (t) => {
  const [limit, open] = [descriptorLimit()!, openDescriptors()]
  t.ok(Number.isInteger(limit) && open > 0 && open < limit, `${open} of ${limit}`)
})

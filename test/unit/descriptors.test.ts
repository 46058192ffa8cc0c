/**
 * Promise: the connections of all ports together never need more files than the process may open, with enough left for the journal and
 * every thread; bounds that fit are left as they are.
 */
import t from 'tap'
import { readConfig, type Config } from '../../core/config.ts'
import { descriptorLimit, fitDescriptors, openDescriptors } from '../../core/descriptors.ts'

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
    t.ok(wanted > fit && fit >= limit / 2 && fit < limit, `${limit}: ${fit} of ${wanted}`)
    t.ok(needs(config) <= fit, `${needs(config)} connections fit ${limit} files`)
    t.ok(config.wsConnections >= 1 && config.grpcConnections >= 1)
  }
  const { config } = fitDescriptors(configOf(), 4096)
  t.ok(config.wsConnections > 5 * config.grpcConnections)
})

const skip = process.platform === 'linux' ? false : 'the limits are read from /proc'

t.test('what this process may open, and has', { skip }, async (t) => {
  const [limit, open] = [descriptorLimit()!, openDescriptors()]
  t.ok(Number.isInteger(limit) && open > 0 && open < limit, `${open} of ${limit}`)
})

/**
 * Looks whether the ports of a configuration can be had, before the journal is opened and threads are started: each is
 * listened on for a moment, all at once, so that two settings with one number are found too. What cannot be had is a
 * {@link ConfigError} that names the port, its setting and, where the system tells, who has it.
 *
 * Connections of an earlier exchange that are still being closed (TIME_WAIT) do not matter, as they do not when it
 * serves. Another exchange does, although gateways share a port (SO_REUSEPORT): here it is not shared. Somebody may
 * take a port between this look and the start of its thread; that thread then ends the start with the same exit code.
 */
import { createServer, type Server } from 'node:net'
import { ConfigError, embedsChain, settingOf, type Config } from './config.ts'
import { portHolder } from './lib/port_holder.ts'
import { systemFault } from './lib/system_fault.ts'

type PortKnob = 'port' | 'proxyPort' | 'grpcPort' | 'operatorPort' | 'chainPort'

interface Wanted {
  readonly knob: PortKnob
  readonly host: string
  readonly port: number
}

const LOOPBACK = '127.0.0.1'

/** The ports that will be listened on; those that the system picks are left out. */
function wantedPorts(config: Config): Wanted[] {
  const { host } = config
  const all: [knob: PortKnob, at: string, served: boolean][] = [
    ['port', host, true], ['proxyPort', host, config.proxyPort !== 0],
    ['grpcPort', host, config.grpcThread === 1], ['operatorPort', LOOPBACK, true],
    ['chainPort', LOOPBACK, embedsChain(config)],
  ]
  const wanted = all.filter(([knob, , served]) => served && config[knob] !== 0)
  return wanted.map(([knob, at]) => ({ knob, host: at, port: config[knob] }))
}

function listenFor({ host, port }: Wanted): Promise<Server> {
  const server = createServer((connection) => connection.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => resolve(server))
  })
}

const NO_ADDRESS = 'is no address of this machine: name one that it has, or 0.0.0.0 for all'

/** Why a port cannot be had, and what to do. `held`: those that this look has already. */
function reason(error: NodeJS.ErrnoException, { knob, host, port }: Wanted, held: readonly Wanted[]): Error {
  const setting = settingOf(knob)
  const place = `port ${port} of ${host} (${setting})`
  const twin = held.find((other) => other.port === port)
  switch (error.code) {
    case 'EADDRINUSE': {
      if (twin !== undefined) {
        return new ConfigError(`port ${port} is named twice, by ${settingOf(twin.knob)} and by ${setting}`)
      }
      const by = portHolder(host, port) || 'another process'
      return new ConfigError(`${place} is in use by ${by}: end that, or name another port; 0 picks a free one`)
    }
    case 'EACCES':
      return new ConfigError(`${place} may not be taken by this user: name one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(`${host} (${settingOf('host')}) ${NO_ADDRESS}`)
    default:
      return systemFault(error, place)
  }
}

/** Settles when every port of the configuration can be had; rejects with the first that cannot. */
export async function checkPorts(config: Config): Promise<void> {
  const held: (Wanted & { readonly server: Server })[] = []
  try {
    for (const wanted of wantedPorts(config)) {
      const server = await listenFor(wanted).catch((error: NodeJS.ErrnoException) => {
        throw reason(error, wanted, held)
      })
      held.push({ ...wanted, server })
    }
  } finally {
    await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))))
  }
}

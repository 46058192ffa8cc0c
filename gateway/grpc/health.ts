/**
 * grpc.health.v1.Health for load balancers: '' and every service serve while the matcher works, and nothing does during a stop.
 * svc.v1.HealthService tells people more.
 */
import type { Server } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import type { Gateway } from '../context.ts'
import { isReady } from '../operations/health.ts'

export interface Health {
  /** Looks whether the matcher works. */
  readonly look: () => void
  /** From now on nothing is served. */
  readonly stop: () => void
}

/** Adds the service; `services` are full names. */
export function serveHealth(server: Server, gateway: Gateway, services: readonly string[]): Health {
  const names = ['', ...services]
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING' as const])))
  health.addToServer(server)
  let serving = false
  let stopped = false
  const set = (now: boolean): void => {
    if (now === serving) return
    serving = now
    for (const name of names) health.setStatus(name, now ? 'SERVING' : 'NOT_SERVING')
  }
  return {
    look: () => {
      if (!stopped) set(isReady(gateway))
    },
    stop: () => {
      stopped = true
      set(false)
    },
  }
}

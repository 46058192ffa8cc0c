/**
 * Debian's nginx and haproxy in front of the exchange, as operators put them there: connections to the service are kept and shared by
 * everybody's requests, which is what smuggling is after. Each is a process of its own with a configuration of its own in a temporary
 * directory, listens on a socket file there, and is ended by its own process id.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { lacks } from '../suite/packages.ts'

export const PROXIES = ['nginx', 'nginx without buffers', 'haproxy'] as const
export type ProxyName = (typeof PROXIES)[number]

export interface Proxy {
  /** Socket file it listens on. */
  readonly path: string
  stop(): Promise<void>
}

const program = (name: ProxyName): string => name.split(' ')[0]!

/** Why a proxy cannot be run here; '' when it can. */
export function missing(name: ProxyName): string {
  const { error } = spawnSync(program(name), ['-v'], { env: PATHS })
  return error === undefined ? '' : lacks([program(name) === 'nginx' ? 'nginx-light' : 'haproxy'], error.message)
}

/** Its programs are for administrators, and not on everybody's path. */
const PATHS = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }

const nginxFrame = (directory: string): string => `
daemon off;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
worker_processes 1;
events { worker_connections 256; }`
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
const nginxFiles = (directory: string): string =>
  `access_log off; ${TEMPORARY.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}`

const nginx = (directory: string, port: number, buffering: 'on' | 'off'): string => `
${nginxFrame(directory)}
http {
  ${nginxFiles(directory)}
  upstream ringbook { server 127.0.0.1:${port}; keepalive 4; }
  server {
    listen unix:${directory}/proxy.sock;
    ignore_invalid_headers off;
    location / {
      proxy_pass http://ringbook;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_request_buffering ${buffering};
    }
  }
}
`

const haproxy = (directory: string, port: number): string => `
global
  maxconn 256
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
  http-reuse always
frontend in
  bind unix@${directory}/proxy.sock
  default_backend ringbook
backend ringbook
  server ringbook 127.0.0.1:${port} maxconn 2
`

/** Starts a proxy in front of the service on this port of the loopback. */
export async function startProxy(name: ProxyName, port: number): Promise<Proxy> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-proxy-'))
  const text = name === 'haproxy' ? haproxy(directory, port) : nginx(directory, port, name === 'nginx' ? 'on' : 'off')
  const path = join(directory, 'proxy.sock')
  return { path, stop: await run(program(name), directory, text, { path }) }
}

/** Starts haproxy that hands on bytes, each connection behind a PROXY header: from ports of the loopback to others. */
export async function startByteProxy(ports: readonly (readonly [from: number, to: number])[]): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-proxy-'))
  const sides = ports.map(([from, to], i) => `
listen side${i}
  bind 127.0.0.1:${from}
  server ringbook 127.0.0.1:${to} send-proxy-v2`)
  const defaults = 'defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s'
  return run('haproxy', directory, `global\n  maxconn 256\n${defaults}\n${sides.join('\n')}\n`, { host: '127.0.0.1', port: ports[0]![0] })
}

/** Starts nginx with this text inside its `http` block, and waits until it listens on this port of the loopback. */
export function startNginx(directory: string, http: string, port: number): Promise<() => Promise<void>> {
  const text = `${nginxFrame(directory)}\nhttp {\n  ${nginxFiles(directory)}\n${http}\n}\n`
  return run('nginx', directory, text, { host: '127.0.0.1', port })
}

/** Starts a program in a directory that is removed when it is stopped, and waits until it listens there; how to stop it. */
async function run(
  name: string, directory: string, text: string, where: { path: string } | { host: string; port: number },
): Promise<() => Promise<void>> {
  const file = join(directory, 'proxy.conf')
  writeFileSync(file, text)
  const words = name === 'haproxy' ? ['-db', '-f', file] : ['-p', directory, '-c', file, '-e', join(directory, 'error.log')]
  const child = spawn(name, words, { env: PATHS, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)))
  const stop = async (): Promise<void> => {
    await end(child)
    rmSync(directory, { recursive: true, force: true })
  }
  for (let look = 0; look < 500; look++) {
    if (child.exitCode !== null) break
    if (await answers(where)) return stop
    await pause(10)
  }
  await stop()
  throw new Error(`${name} did not start: ${said}`)
}

async function answers(where: { path: string } | { host: string; port: number }): Promise<boolean> {
  const socket = connect(where)
  const open = await new Promise<boolean>((resolve) => socket.on('connect', () => resolve(true)).on('error', () => resolve(false)))
  socket.destroy()
  return open
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

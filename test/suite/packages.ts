/**
 * What a test needs of the machine beside npm's packages: packages of Debian, all of them in `packages.txt`. A skipped test says
 * which of them it lacks, and the suite ends with one line that installs those.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every package that `.ci/run` installs. */
export const PACKAGES: readonly string[] = readFileSync(join(import.meta.dirname, 'packages.txt'), 'utf8').trim().split('\n')

/** Packages of the modules of Python that tests import. */
const PYTHON: Record<string, string> = {
  grpc: 'python3-grpcio', grpc_tools: 'python3-grpc-tools', 'google.protobuf': 'python3-protobuf', nacl: 'python3-nacl',
  pip: 'python3-pip', setuptools: 'python3-setuptools', venv: 'python3-venv', websockets: 'python3-websockets', wheel: 'python3-wheel',
}

/** The reason of a test that is skipped for want of these packages. Throws for one that is not in the list. */
export function lacks(packages: readonly string[], why: string): string {
  const unknown = packages.find((name) => !PACKAGES.includes(name))
  if (unknown !== undefined) throw new Error(`${unknown} is not in packages.txt`)
  return `apt-get install ${packages.join(' ')} (${why})`
}

/** The same for modules of Python, as an import names them: `websockets, nacl`. */
export const lacksPython = (modules: string, why: string): string =>
  lacks(modules.split(', ').map((name) => PYTHON[name] ?? name), why)

/** Names and reasons of the tests that the lines of a file say were skipped. */
export const skippedIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^\s*ok \d+ - (.* # SKIP.*)$/.exec(line)?.[1] ?? [])

/** The line that installs what these reasons want, or `null`: nothing that can be installed. */
export function installLine(reasons: readonly string[]): string | null {
  const wanted = reasons.flatMap((reason) => /# SKIP apt-get install ([\w+. -]+?) \(/.exec(reason)?.[1]?.split(' ') ?? [])
  const packages = [...new Set(wanted)].sort()
  return packages.length === 0 ? null : `sudo apt-get install --no-install-recommends ${packages.join(' ')}`
}

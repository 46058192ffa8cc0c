/** A Python that can run the tests of other languages. */
import { spawnSync } from 'node:child_process'

/** A Python that has the packages (names as imported): Debian's first, whose packages they are. Otherwise why there is none. */
export function findPython(packages: string): { python: string } | { reason: string } {
  const failures: string[] = []
  for (const python of ['/usr/bin/python3', 'python3']) {
    const { status, error, stderr } = spawnSync(python, ['-c', `import ${packages}`], { encoding: 'utf8' })
    if (status === 0) return { python }
    failures.push(`${python}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`)
  }
  return { reason: failures.join('; ') }
}

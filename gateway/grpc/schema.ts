/**
 * The messages and services of `proto/`, read once per thread. The files are the published interface (generate/protos.ts writes them).
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'

/** Folder of the .proto files; imports are relative to it. */
export const PROTO_ROOT = join(import.meta.dirname, '..', '..', 'proto')
export const PACKAGE = 'svc.v1'

/** Files of the exchange's own package, relative to {@link PROTO_ROOT}. */
export const protoFiles = (): string[] => globSync('svc/v1/*.proto', { cwd: PROTO_ROOT }).sort()

/**
 * Everything under {@link PROTO_ROOT}, resolved; well-known types come with protobufjs. Fields have their JSON names (`json_name`, where
 * a file says one), or with `keepCase` those of the files.
 */
export function loadSchema(keepCase = false): protobuf.Root {
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) => (target.startsWith('google/protobuf/') ? target : join(PROTO_ROOT, target))
  root.loadSync([...protoFiles(), 'google/rpc/error_details.proto', 'google/rpc/status.proto'], { keepCase })
  if (!keepCase) nameAsJson(root)
  root.resolveAll()
  return root
}

/** The parser knows the option and leaves the names as they are. */
function nameAsJson(namespace: protobuf.NamespaceBase): void {
  for (const entry of namespace.nestedArray) {
    if (entry instanceof protobuf.Namespace) nameAsJson(entry)
    if (!(entry instanceof protobuf.Type)) continue
    for (const field of entry.fieldsArray) {
      const name = field.options?.['json_name'] as string | undefined
      if (name === undefined) continue
      entry.remove(field)
      field.name = name
      entry.add(field)
    }
  }
}

/** The message `name` of the exchange's package. */
export const messageOf = (root: protobuf.Root, name: string): protobuf.Type => root.lookupType(`${PACKAGE}.${name}`)

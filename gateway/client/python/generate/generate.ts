/**
 * Makes `src/ringbook/_generated` of the Python package from the documents the service serves (`/api/v1/openapi.json`
 * and `/api/v1/asyncapi.json`): types of everything that goes over the wire, a table of operations, and their methods.
 *
 *   types.py           typed dictionaries of requests, answers and frames
 *   table.py           operations, retry classes of refusals, channels, messages of order entry
 *   methods.py         operations as methods, for callers that wait
 *   async_methods.py   the same for asyncio
 *
 * `npm run generate` writes them; test/unit/python_generated.test.ts sees that what is in the tree is what would be made.
 */
import { actionsOf, channelsOf, limitsOf, listenMethodOf, type AsyncApi, type Channel } from './channels.ts'
import { classesOf, methodOf, operationsOf, type OpenApi, type Operation } from './operations.ts'
import { docstring, Types, WIDTH } from './schema.ts'

const MADE = 'Made by gateway/client/python/generate from the documents of the service: do not edit.'

/** The text of every file, by its name. */
export function generate(openapi: OpenApi, asyncapi: AsyncApi): Map<string, string> {
  const types = new Types({ ...asyncapi.components.schemas, ...openapi.components.schemas })
  const operations = operationsOf(openapi, types)
  const channels = channelsOf(asyncapi, types)
  const actions = actionsOf(asyncapi)
  return new Map([
    ['types.py', typesFile(types, channels)],
    ['table.py', tableFile(operations, classesOf(openapi), channels, actions, limitsOf(asyncapi))],
    ['methods.py', methodsFile(operations, channels, actions, types, false)],
    ['async_methods.py', methodsFile(operations, channels, actions, types, true)],
  ])
}

const text = (...lines: readonly (string | readonly string[])[]): string => `${lines.flat().join('\n').trimEnd()}\n`

function typesFile(types: Types, channels: readonly Channel[]): string {
  const unions = channels.map(({ frame, frames }) => `${frame} = Union[${frames.join(', ')}]`)
  return text(
    docstring('', `What goes over the wire. ${MADE}`), '', 'from __future__ import annotations', '', 'import decimal',
    'from typing import Any, Literal, TypedDict, Union', '',
    '#: A decimal in a request: text, or exact. Binary floating point is refused.', 'Amount = Union[str, decimal.Decimal]',
    '', types.source(), '', unions, '',
    '__all__ = [', listed(['Amount', ...types.names, ...channels.map(({ frame }) => frame)].sort().map((name) => `"${name}"`)), ']',
  )
}

function tableFile(
  operations: readonly Operation[], classes: readonly [string, string, string][], channels: readonly Channel[],
  actions: readonly [string, string][], limits: readonly [string, number][],
): string {
  const rows = operations.flatMap(({ name, http, path, access, repeat, inBody, pages }) => {
    const [head, tail] = [`    ("${name}", "${http}", "${path}",`, `"${access}", "${repeat}", ${inBody ? 'True' : 'False'}, "${pages}"),`]
    return head.length + tail.length < WIDTH ? [`${head} ${tail}`] : [head, `     ${tail}`]
  })
  return text(
    docstring('', `Operations, refusals, channels and messages. ${MADE}`), '', 'from __future__ import annotations', '',
    'from typing import NamedTuple', '', '',
    'class Operation(NamedTuple):', '    """An operation of the service."""', '    name: str', '    method: str', '    path: str',
    '    #: public, session or server-key.', '    access: str',
    '    #: Whether sending it twice is as good as once: always, by-id, with-key, or never known.', '    repeat: str',
    '    #: Whether fields go into the body, and not into the query.', '    in_body: bool',
    '    #: How its rows go on: token, number of a page, or none.', '    pages: str', '', '',
    'OPERATIONS = {row[0]: Operation(*row) for row in (', rows, ')}', '',
    '#: Retry class of every code that the service refuses with.', 'RETRY = {',
    classes.map(([code, retry]) => `    "${code}": "${retry}",`), '}', '',
    '#: What ccxt calls each of them.', 'CCXT = {', classes.map(([code, , ccxt]) => `    "${code}": "${ccxt}",`), '}', '',
    '#: Channels, and whether they need a session.', 'CHANNELS = {',
    channels.map(({ name, isPrivate }) => `    "${name}": ${isPrivate ? 'True' : 'False'},`), '}', '',
    '#: Messages of order entry, by the operation they do.', 'ORDER_MESSAGES = {',
    actions.map(([operation, message]) => `    "${operation}": "${message}",`), '}', '',
    '#: What a connection of streams or order entry may do, as the service is set up by itself.', 'LIMITS = {',
    limits.map(([name, value]) => `    "${name}": ${value},`), '}',
  )
}

function methodsFile(
  operations: readonly Operation[], channels: readonly Channel[], actions: readonly [string, string][], types: Types, isAsync: boolean,
): string {
  const prefix = isAsync ? 'Async' : ''
  const stream = `${prefix}Stream`
  const entered = operations.filter(({ name }) => actions.some(([operation]) => operation === name))
  const body = [
    `class ${prefix}Operations:`, '    """Every operation of the service, over REST."""', '',
    `    ${isAsync ? 'async ' : ''}def _call(self, name: str, fields: dict[str, Any]) -> Any:`, '        raise NotImplementedError', '',
    ...operations.flatMap((operation) => methodOf(operation, isAsync)), '',
    `class ${prefix}OrderOperations:`, '    """Operations of order entry, over a socket."""', '',
    `    ${isAsync ? 'async ' : ''}def _call(self, name: str, fields: dict[str, Any]) -> Any:`, '        raise NotImplementedError', '',
    ...entered.flatMap((operation) => methodOf(operation, isAsync)), '',
    `class ${prefix}Channels:`, '    """Every channel, each as a stream of its frames."""', '',
    `    def _listen(self, channel: str, params: dict[str, Any]) -> ${stream}[Any]:`, '        raise NotImplementedError', '',
    ...channels.flatMap((channel) => listenMethodOf(channel, stream)),
  ]
  const known = [...types.names, ...channels.map(({ frame }) => frame), 'Amount']
  const words = new Set(body.join('\n').match(/\w+/g))
  return text(
    docstring('', `Operations and channels as methods. ${MADE}`), '', 'from __future__ import annotations', '',
    'from typing import TYPE_CHECKING, Any, Literal, cast', '',
    'if TYPE_CHECKING:', `    from ..${isAsync ? 'aio' : 'client'} import ${stream}`,
    '    from .types import (', listed(known.filter((name) => words.has(name)).sort(), '       '), '    )', '', '', body,
  )
}

/** Names in lines behind `indent`, which ends where a space follows. */
function listed(names: readonly string[], indent = '   '): string[] {
  const lines = [indent]
  for (const name of names) {
    if (lines.at(-1)!.length + name.length + 2 > WIDTH) lines.push(indent)
    lines[lines.length - 1] += ` ${name},`
  }
  return lines
}

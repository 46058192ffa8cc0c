/**
 * The numbers that stand for names in a finished chunk: those of tables, of layouts, and constants.
 * inline_accessors.mjs writes them in.
 *
 * A table is a top-level `const` of an object literal with plain keys. It has numbers only if nobody can change them:
 * nobody assigns to it, by whatever name, and nobody else gets hold of it. So its fields may be read, it may be taken
 * apart (`const { A } = TABLE`) or spread into an object, may have another constant's name at the top level, and may go
 * to the {@link HARMLESS} functions of Object. If it stands anywhere else (an argument, a field, a list, a result, an
 * export) it has no numbers, because from there somebody might write to it. Also another variable of its name counts as
 * the table.
 *
 * A layout is known by its name and the module that defines it. Its offsets are frozen (layout/table.ts) and may go
 * anywhere.
 */
import { constantsOf, declarationsOf, isValue, walk } from './syntax_tree.mjs'

/** How the bundler begins what came from a module. */
export const REGION = '//#region '

/** The region of the chunk that has the place: the module it came from. */
function regionOf(code, at) {
  const from = code.lastIndexOf(REGION, at)
  return from < 0 ? '' : code.slice(from + REGION.length, code.indexOf('\n', from))
}

/** Tables by name, numbers by name. `layouts`: the offsets of each layout by its module and the name it is defined with. */
export function constantsIn(program, code, layouts) {
  const defined = layoutsIn(program, code, layouts)
  const tables = tablesOf(program)
  const numbers = new Map()
  const declarations = declarationsOf(program)
  const tableOf = (node) => {
    if (node.type === 'Identifier') return tables.get(node.name)
    return isOffsets(node) ? defined.get(node.object.name) : undefined
  }
  for (const { id, init } of declarations) {
    if (id.type === 'Identifier') {
      const table = tableOf(init)
      if (table !== undefined) tables.set(id.name, table)
    } else if (init.type === 'Identifier' && defined.has(init.name)) {
      for (const { key, value } of plainPartsOf(id)) if (key.name === 'at') tables.set(value.name, defined.get(init.name))
    }
  }
  forgetWritten(program, tables, new Set(defined.values()))
  for (const { id, init } of declarations) {
    if (id.type === 'Identifier' && isNumber(init)) numbers.set(id.name, String(init.value))
    for (const { key, value } of plainPartsOf(id)) {
      const number = tableOf(init)?.get(key.name)
      if (number !== undefined) numbers.set(value.name, number)
    }
  }
  return { tables, numbers, defined }
}

/** `key: name` of a pattern. */
const plainPartsOf = ({ type, properties }) =>
  type === 'ObjectPattern' ? properties.filter(({ computed, value }) => computed === false && value.type === 'Identifier') : []

/** By name: the offsets of the layouts that are defined at the top level. */
function layoutsIn(program, code, layouts) {
  const defined = new Map()
  const named = new Set()
  for (const [name, { type, start, callee, arguments: [first] = [] }] of constantsOf(program)) {
    if (type !== 'CallExpression' || callee.name !== 'defineLayout' || first?.type !== 'Literal') continue
    if (named.has(first.value)) throw new Error(`two layouts are named ${first.value}`)
    named.add(first.value)
    const offsets = layouts.get(`${regionOf(code, start)} ${first.value}`)
    if (offsets !== undefined) defined.set(name, offsets)
  }
  return defined
}

/** Functions of `Object` that give back copies, or what nobody can change any more. */
const HARMLESS = new Set(['keys', 'values', 'entries', 'freeze', 'hasOwn'])

/** True where a table is looked at, copied or taken apart: nobody gets hold of it there. */
function isLook(node, parent, grandparent) {
  const { type, callee } = parent
  if (type === 'MemberExpression') {
    // A function that is called as a method gets the table; `TABLE?.A` may be written to as well.
    return parent.object === node && grandparent.type !== 'ChainExpression' && (grandparent.callee ?? grandparent.tag) !== parent
  }
  if (type === 'VariableDeclarator') return parent.id.type === 'ObjectPattern'
  if (type === 'SpreadElement') return grandparent.type === 'ObjectExpression'
  return type === 'CallExpression' && callee.type === 'MemberExpression' && !callee.computed && callee.object.name === 'Object' &&
    HARMLESS.has(callee.property.name)
}

/** Tables that are written to have no numbers, by none of their names, nor have those that might be: all that escape but the `frozen`. */
function forgetWritten(program, tables, frozen) {
  const forgetIn = (target) => {
    if (target?.type === 'MemberExpression') return void tables.get(target.object.name)?.clear()
    if (target?.type.endsWith('Pattern') || target?.type === 'RestElement' || target?.type === 'Property') {
      const { elements, properties, value, left, argument } = target
      for (const each of elements ?? properties ?? [value ?? left ?? argument]) forgetIn(each)
    }
  }
  /** Where a table gets another constant's name. */
  const named = new Set(declarationsOf(program).filter(({ id }) => id.type === 'Identifier'))
  walk(program, (node, parent, grandparent) => {
    const { type, operator } = node
    if (type === 'AssignmentExpression' || type === 'ForOfStatement' || type === 'ForInStatement') forgetIn(node.left)
    if (type === 'UpdateExpression' || (type === 'UnaryExpression' && operator === 'delete')) forgetIn(node.argument)
    const table = isValue(node, parent) ? tables.get(node.name) : undefined
    if (table === undefined || frozen.has(table) || named.has(parent)) return
    if (!isLook(node, parent, grandparent)) table.clear()
  })
}

const isNumber = (node) => node?.type === 'Literal' && typeof node.value === 'number'

/** `LAYOUT.at`. */
export const isOffsets = ({ type, computed, object, property }) =>
  type === 'MemberExpression' && !computed && object.type === 'Identifier' && property.name === 'at'

/** By name: the numbers of each table. `f64(4)` of a function that gives back what it gets is a number too. */
function tablesOf(program) {
  const constants = constantsOf(program)
  const isSame = ({ type, params, body }) =>
    type === 'ArrowFunctionExpression' && params.length === 1 && body.type === 'Identifier' && body.name === params[0].name
  const same = new Set(constants.filter(([, init]) => isSame(init)).map(([name]) => name))
  const numberOf = (node) => {
    if (isNumber(node)) return String(node.value)
    if (node?.type === 'UnaryExpression' && node.operator === '-' && isNumber(node.argument)) return `(-${node.argument.value})`
    return node?.type === 'CallExpression' && same.has(node.callee.name) ? numberOf(node.arguments[0]) : null
  }
  const tables = new Map()
  for (const [name, init] of constants) {
    if (init.type !== 'ObjectExpression' || !init.properties.every(isPlainProperty)) continue
    const numbers = init.properties.map((property) => [property.key.name, numberOf(property.value)])
    tables.set(name, new Map(numbers.filter(([, number]) => number !== null)))
  }
  return tables
}

/** `NAME: value`. */
const isPlainProperty = ({ type, kind, computed, key }) => type === 'Property' && kind === 'init' && !computed && key.type === 'Identifier'

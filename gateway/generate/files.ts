/**
 * Checked-in files that are made from others: from the declarations of operations and channels, and of contracts from their sources.
 * Path below the repository's folder, and text.
 */
import { PYTHON_FOLDER, pythonFiles } from './python.ts'
import { clientData, CLIENT_DATA } from './client_data.ts'
import { contractFiles } from './contracts.ts'
import { protoTexts } from './protos.ts'

export const generatedFiles = (): ReadonlyMap<string, string> => new Map([
  [CLIENT_DATA, clientData()],
  ...protoTexts(),
  ...contractFiles(),
  ...[...pythonFiles()].map(([name, text]) => [`${PYTHON_FOLDER}/${name}`, text] as const),
])

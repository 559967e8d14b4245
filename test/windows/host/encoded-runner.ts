import { withoutComments } from '../../../src/shell/powershell.ts';
import { scriptFile } from '../../../src/templates.ts';
import type { Machine } from './machine.ts';
import { ScriptFailure } from './script.ts';

/** What powershell.exe of a job's task was told: the folder of the job, and how long it may take. */
interface Runner {
  readonly folder: string;
  readonly seconds: number;
}

/** Reads the arguments of a job's task as powershell.exe does. `extra.executionPolicy`: one that a group policy sets. */
export function runnerOf(machine: Machine, text: string): Runner {
  const encoded = / -EncodedCommand ([A-Za-z0-9+/=]+)$/.exec(text)?.[1];
  if (encoded === undefined) {
    const isSigned = machine.extra.get('executionPolicy') === 'AllSigned';
    throw new ScriptFailure(isSigned ? 'run.ps1 cannot be loaded: it is not digitally signed.' : `cannot run ${text}`);
  }
  const script = Buffer.from(encoded, 'base64').toString('utf16le');
  const call = /^& \{\n([\s\S]*)\n\} -Folder '([^']+)' -Seconds (\d+)$/.exec(script);
  if (call?.[1] !== withoutComments(scriptFile('windows/job-run.ps1')))
    throw new Error(`the task of a job runs another script: ${script.slice(0, 100)}`);
  return { folder: call[2]!, seconds: Number(call[3]) };
}

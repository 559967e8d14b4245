import { windowsPaths } from '../paths.ts';
import type { ServiceParameter } from '../resources/windows-service.ts';

/** Command line of every service that nssm runs. The service's parameters name the program. */
export const NSSM = `${windowsPaths.programs}\\nssm.exe`;

/** Parameters of a service that nssm runs (source: nssm.cc/usage). nssm rotates the log after 10 MiB or one day. */
export const nssmParameters = (program: string, flags: readonly string[], log: string): readonly ServiceParameter[] => [
  { name: 'Application', value: program },
  { name: 'AppDirectory', value: windowsPaths.programs },
  { name: 'AppParameters', value: flags.join(' ') },
  { name: 'AppStdout', value: log },
  { name: 'AppStderr', value: log },
  { name: 'AppRotateFiles', value: 1 },
  { name: 'AppRotateOnline', value: 1 },
  { name: 'AppRotateBytes', value: 10_485_760 },
  { name: 'AppRotateSeconds', value: 86_400 },
];

import { windowsPaths } from '../paths.ts';
import type { ServiceParameter } from '../resources/windows-service.ts';

/** The command line of every service that nssm runs: what it runs stands in the service's parameters. */
export const NSSM = `${windowsPaths.programs}\\nssm.exe`;

/** nssm's settings of a service (its usage page): it writes and rotates the log itself. */
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

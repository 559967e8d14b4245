# Sets variables of the machine's environment, or removes them. Variables: a list of objects with name and value (null:
# remove).
[CmdletBinding()]
param($Variables = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$names = @()
foreach ($variable in @($Variables)) {
    Set-MachineEnvironment -Name $variable.name -Value $variable.value
    $names += [string]$variable.name
}
Write-Result -Value @{ set = @($names) }

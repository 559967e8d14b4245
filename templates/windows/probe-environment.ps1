# Observes the variables that are set in the machine's environment. Names: the variables.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$variables = @()
foreach ($name in $Names) {
    $value = Get-MachineEnvironment -Name $name
    if ("$value" -ne '') { $variables += @{ name = $name; value = [string]$value } }
}
Write-Result -Value @{ variables = @($variables) }

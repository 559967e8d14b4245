# Observes what programs print about their version. Programs: a list of objects with name, path,
# arguments, and the exit codes besides 0 that mean success.
[CmdletBinding()]
param($Programs = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$found = @()
foreach ($program in @($Programs)) {
    if (Test-Path -LiteralPath $program.path -PathType 'Leaf') {
        $state = 'works'
        $said = ''
        try {
            $said = @(Invoke-Native -Exe $program.path -Arguments @($program.arguments) -AllowExit @($program.exits)) -join "`n"
        } catch {
            $state = 'broken'
            $said = [string]$_.Exception.Message
        }
        $found += @{ name = [string]$program.name; state = $state; said = [string]$said }
    }
}
Write-Result -Value @{ programs = @($found) }

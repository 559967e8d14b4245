# Observes what programs print about their version. Programs: a list of objects with name, path, arguments, and the exit
# codes besides 0 that mean success. Each reads nothing, has Seconds, and at most 4 KB of it are kept.
[CmdletBinding()]
param($Programs = @(), [int]$Seconds = 20)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# What a program printed, and how it ended. One that asks a question, or goes on, is ended.
function Get-Answer([string]$Exe, [string[]]$Arguments, [int]$Limit) {
    $start = New-Object -TypeName 'Diagnostics.ProcessStartInfo'
    $start.FileName = $Exe
    $start.Arguments = $Arguments -join ' '
    $start.UseShellExecute = $false
    $start.CreateNoWindow = $true
    $start.RedirectStandardInput = $true
    $start.RedirectStandardOutput = $true
    $start.RedirectStandardError = $true
    $process = [Diagnostics.Process]::Start($start)
    try {
        $process.StandardInput.Close()
        $output = $process.StandardOutput.ReadToEndAsync()
        $errors = $process.StandardError.ReadToEndAsync()
        if (-not $process.WaitForExit($Limit * 1000)) { throw "it did not end within $Limit s" }
        # A process that it started may keep them open.
        if (-not $output.Wait(2000) -or -not $errors.Wait(2000)) { throw 'it ended, and what it started goes on' }
        return @{ status = [int]$process.ExitCode; output = [string]$output.Result; errors = [string]$errors.Result }
    } finally {
        if (-not $process.HasExited) { $process.Kill() }
        $process.Dispose()
    }
}
function Get-Short([string]$Text) {
    if ($Text.Length -gt 4096) { return $Text.Substring(0, 4096) }
    return $Text
}
$found = @()
foreach ($program in @($Programs)) {
    if (Test-Path -LiteralPath $program.path -PathType 'Leaf') {
        $state = 'works'
        try {
            $answer = Get-Answer $program.path @($program.arguments) $Seconds
            $said = Get-Short $answer.output
            if ($answer.status -ne 0 -and @($program.exits) -notcontains $answer.status) {
                $state = 'broken'
                $said = Get-Short "$($program.path) ended with status $($answer.status): $($answer.errors)"
            }
        } catch {
            $state = 'broken'
            $said = [string]$_.Exception.GetBaseException().Message
        }
        $found += @{ name = [string]$program.name; state = $state; said = [string]$said }
    }
}
Write-Result -Value @{ programs = @($found) }

# Starts the job Task as a scheduled task of SYSTEM. Returns `started`, or `busy` and the running task of another run.
# If kbuild repeats it after a lost connection, Folder exists and it starts nothing.
# Root, Jobs: private folders; Run: the folder in Jobs that is this run's; StartLock: held while a job is being started;
# Arguments: of powershell.exe; Payload: what it reads; Runner: the script that the task runs; Files: JSON of the files for the job's
# working folder, each with its name and text.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Root,
    [Parameter(Mandatory = $true)][string]$StartLock,
    [Parameter(Mandatory = $true)][string]$Jobs,
    [Parameter(Mandatory = $true)][string]$Run,
    [Parameter(Mandatory = $true)][string]$Folder,
    [Parameter(Mandatory = $true)][string]$Task,
    [Parameter(Mandatory = $true)][string]$Arguments,
    [Parameter(Mandatory = $true)][string]$Payload,
    [Parameter(Mandatory = $true)][string]$Runner,
    [Parameter(Mandatory = $true)][string]$Files
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# SCHED_S_TASK_HAS_NOT_RUN
$notYet = 267011
New-PrivateFolder -Path $Root
New-PrivateFolder -Path $Jobs
$deadline = (Get-Date).AddSeconds(60)
$lock = Open-LockFile -Path $StartLock
while ($null -eq $lock) {
    if ((Get-Date) -gt $deadline) { throw "another run starts a job for more than a minute: $StartLock" }
    Start-Sleep -Milliseconds 200
    $lock = Open-LockFile -Path $StartLock
}
try {
    $known = @(Find-Existing -Look { Get-ScheduledTask -TaskName 'kbuild-job-*' -ErrorAction 'Stop' })
    $own = @($known | Where-Object -FilterScript { $_.TaskName -eq $Task })
    $begun = $false
    if (Test-Path -LiteralPath $Folder) {
        if (Test-Path -LiteralPath "$Folder\status") { $begun = $true }
        elseif ($own.Count -gt 0 -and (Get-ScheduledTaskInfo -TaskName $Task).LastTaskResult -ne $notYet) { $begun = $true }
    }
    $running = @($known | Where-Object -FilterScript { $_.TaskName -ne $Task -and @('Running', 'Queued') -contains "$($_.State)" })
    $answer = @{ state = 'started' }
    if (-not $begun -and $running.Count -gt 0) { $answer = @{ state = 'busy'; task = $running[0].TaskName } }
    elseif (-not $begun) {
        # No job runs: what other runs left here has ended or never began, and no run reads it.
        foreach ($old in $known) { Unregister-ScheduledTask -TaskName $old.TaskName -Confirm:$false }
        foreach ($other in @(Get-ChildItem -LiteralPath $Jobs)) {
            if ($other.Name -ne $Run) { Remove-Item -LiteralPath $other.FullName -Recurse -Force }
        }
        if (Test-Path -LiteralPath $Folder) { Remove-Item -LiteralPath $Folder -Recurse -Force }
        New-Item -ItemType 'Directory' -Path "$Folder\work" -Force | Out-Null
        foreach ($file in @((ConvertFrom-Json -InputObject $Files).files)) { Write-Utf8 -Path "$Folder\work\$($file.name)" -Text $file.text }
        Write-Utf8 -Path "$Folder\payload" -Text $Payload
        Write-Utf8 -Path "$Folder\run.ps1" -Text $Runner
        Write-Utf8 -Path "$Folder\arguments" -Text $Arguments
        $command = "-NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -File $Folder\run.ps1 -Folder $Folder"
        $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument $command
        $principal = New-ScheduledTaskPrincipal -UserId 'SYSTEM' -LogonType 'ServiceAccount' -RunLevel 'Highest'
        $settings = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -ExecutionTimeLimit (New-TimeSpan -Seconds 0)
        Register-ScheduledTask -TaskName $Task -Action $action -Principal $principal -Settings $settings -Force | Out-Null
        Start-ScheduledTask -TaskName $Task
        $deadline = (Get-Date).AddSeconds(60)
        while ((Get-ScheduledTaskInfo -TaskName $Task).LastTaskResult -eq $notYet) {
            if ((Get-Date) -gt $deadline) { throw 'the Task Scheduler does not start the job: does its service (Schedule) run?' }
            Start-Sleep -Milliseconds 100
        }
    }
    Write-Result -Value $answer
}
finally {
    Close-LockFile -File $lock
    Remove-LockFile -Path $StartLock
}
